# SPDX-License-Identifier: Apache-2.0
"""Checks that each README code block marked with an HTML comment `region: FILE#NAME` equals the
named region of that file, which CTest compiles and runs. Exits non-zero on a difference."""
import pathlib
import re
import sys


def region(path: pathlib.Path, name: str) -> str:
    parts = re.split(rf"^ *// \[{re.escape(name)}\] *\n", path.read_text(), flags=re.M)
    if len(parts) != 3:
        sys.exit(f"{path}: region [{name}] must be opened and closed once, found {len(parts) - 1} marks")
    lines = parts[1].rstrip("\n").split("\n")
    indent = min((len(l) - len(l.lstrip()) for l in lines if l.strip()), default=0)
    return "\n".join(l[indent:] for l in lines)


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    text = (root / "README.md").read_text()
    blocks = re.findall(r"<!-- region: (\S+)#(\w+) -->\n```cpp\n(.*?)\n```", text, flags=re.S)
    wrong = [f"{file}#{name}" for file, name, code in blocks if region(root / file, name) != code]
    print(f"{len(blocks)} README snippets, differing: {wrong or 'none'}")
    return 1 if wrong or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
