#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes unicode_tables.inc: the code points of the general categories L (letters) and N (numbers).

Run: generate_unicode_tables.py > unicode_tables.inc
The pip package unicodedata2, where installed, chooses the Unicode version; otherwise Python's own is taken. The
committed tables are those of 16.0.0, which the tokenizers that models are trained with use as well.
"""

try:
    import unicodedata2 as unicodedata
except ImportError:
    import unicodedata


def ranges(category):
    """First and last code points of each run of the category, in ascending order."""
    runs = []
    for code in range(0x110000):
        if unicodedata.category(chr(code))[0] != category:
            continue
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return runs


def print_table(name, category):
    entries = ["{0x%x, 0x%x}" % tuple(run) for run in ranges(category)]
    print("constexpr CodeRange %s[] = {" % name)
    line = "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > 120:
            print(line)
            line = "   "
        line += " " + entry + ","
    print(line)
    print("};")


print("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception")
print("// Written by generate_unicode_tables.py from Unicode %s; do not edit." % unicodedata.unidata_version)
print_table("letters", "L")
print_table("numbers", "N")
