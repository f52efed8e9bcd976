# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds TARGET in BUILD_DIR and passes if that fails with the message that SOURCE states in its EXPECT line.
file(STRINGS ${SOURCE} expected REGEX "^// EXPECT: ")
string(REGEX REPLACE "^// EXPECT: " "" expected "${expected}")
if(expected STREQUAL "")
  message(FATAL_ERROR "${SOURCE} has no line '// EXPECT: message'")
endif()

# The message is looked for as it is written, so the compiler must not translate it or change its quotes.
set(ENV{LC_ALL} C)
execute_process(
  COMMAND ${CMAKE_COMMAND} --build ${BUILD_DIR} --target ${TARGET} --config "${CONFIG}"
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles, but it must not")
endif()
string(FIND "${output}" "${expected}" position)
if(position EQUAL -1)
  message("${output}")  # by itself, because an error's text is wrapped
  message(FATAL_ERROR "${SOURCE} does not compile, but not for the reason '${expected}'")
endif()
message(STATUS "refused, as it must be: ${expected}")
