// SPDX-License-Identifier: Apache-2.0
// The version of the library: the one source from which CMake and the changelog take it.
// 0.x: a minor version may break; Status codes and dtype values are append-only.
#pragma once

namespace raggedgemm {

inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;
inline constexpr const char* version_string = "0.1.0";

}  // namespace raggedgemm
