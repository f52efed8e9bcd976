# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Copies the project SOURCE into an empty WORK_DIR, configures it with the options after "--", builds it and runs PROGRAM
# with ARGUMENTS.
set(options)
set(after FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after)
    list(APPEND options "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(after TRUE)
  endif()
endforeach()

file(REMOVE_RECURSE ${WORK_DIR})
file(COPY ${SOURCE}/ DESTINATION ${WORK_DIR}/source)
execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${WORK_DIR}/source -B ${WORK_DIR}/build ${options}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK_DIR}/build/${PROGRAM} ${ARGUMENTS} COMMAND_ERROR_IS_FATAL ANY)
