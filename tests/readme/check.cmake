# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
file(READ ${README} readme)
file(READ ${PROGRAM} program)
string(FIND "${program}" "#include <invar/invar.hpp>" begin)
string(SUBSTRING "${program}" ${begin} -1 code)
string(FIND "${readme}" "```cpp\n${code}```" found)
if(begin LESS 0 OR found LESS 0)
  message(FATAL_ERROR "README.md does not show ${PROGRAM} as it is")
endif()
