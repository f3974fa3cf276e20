// SPDX-License-Identifier: Apache-2.0
// Reader of the golden cases: golden.idx, lines of text, and golden.bin, the tensors' bytes.
//
//     case NAME MODE EXACT TENSORS
//     attr KEY VALUE …
//     tensor NAME DTYPE RANK EXTENT… OFFSET BYTES
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace support {

struct GoldenTensor {
  std::string dtype;
  std::vector<std::int64_t> extent;
  const unsigned char* data = nullptr;
  std::size_t bytes = 0;

  template <class T>
  [[nodiscard]] std::vector<T> as() const {
    std::vector<T> values(bytes / sizeof(T));
    if (bytes != 0) std::memcpy(static_cast<void*>(values.data()), data, values.size() * sizeof(T));
    return values;
  }
};

struct GoldenCase {
  std::string name;
  std::string mode;
  bool exact = false;
  std::map<std::string, std::string> attribute;
  std::map<std::string, GoldenTensor> tensor;

  [[nodiscard]] std::string text(const std::string& key) const {
    const auto found = attribute.find(key);
    return found == attribute.end() ? std::string() : found->second;
  }

  /// A list of dimensions out of "lc=1 rc=1 lb=- rb=- ragged=0 group=0".
  [[nodiscard]] std::vector<std::size_t> dims(const std::string& key) const {
    std::istringstream words(text("dims"));
    std::vector<std::size_t> list;
    for (std::string word; words >> word;) {
      if (word.rfind(key + "=", 0) != 0) continue;
      std::istringstream values(word.substr(key.size() + 1));
      for (std::string value; std::getline(values, value, ',');)
        if (value != "-") list.push_back(std::stoul(value));
    }
    return list;
  }
};

class Golden {
 public:
  /// An empty list, with the reason in error(), where the files cannot be read.
  explicit Golden(const std::string& folder) {
    std::ifstream binary(folder + "/golden.bin", std::ios::binary);
    std::ifstream index(folder + "/golden.idx");
    if (!binary || !index) {
      error_ = "cannot read golden.idx and golden.bin in " + folder;
      return;
    }
    bytes_.assign(std::istreambuf_iterator<char>(binary), std::istreambuf_iterator<char>());
    for (std::string line; error_.empty() && std::getline(index, line);) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      if (word == "case") {
        GoldenCase next;
        words >> next.name >> next.mode >> next.exact;
        cases_.push_back(next);
      } else if (word == "attr" && !cases_.empty()) {
        std::string key;
        std::string value;
        words >> key >> std::ws;
        std::getline(words, value);
        cases_.back().attribute[key] = value;
      } else if (word == "tensor" && !cases_.empty()) {
        read_tensor(words, line);
      } else if (!word.empty()) {
        error_ = "golden.idx has an odd line: " + line;
      }
    }
  }

  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] const std::vector<GoldenCase>& cases() const { return cases_; }

 private:
  void read_tensor(std::istringstream& words, const std::string& line) {
    std::string name;
    GoldenTensor tensor;
    std::size_t rank = 0;
    std::size_t offset = 0;
    words >> name >> tensor.dtype >> rank;
    tensor.extent.resize(rank);
    for (std::int64_t& extent : tensor.extent) words >> extent;
    words >> offset >> tensor.bytes;
    if (!words || offset + tensor.bytes > bytes_.size()) {
      error_ = "golden.bin is too short, or odd line: " + line;
      return;
    }
    tensor.data = reinterpret_cast<const unsigned char*>(bytes_.data()) + offset;
    cases_.back().tensor[name] = tensor;
  }

  std::string error_;
  std::vector<char> bytes_;
  std::vector<GoldenCase> cases_;
};

}  // namespace support
