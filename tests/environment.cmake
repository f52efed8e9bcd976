# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(INVAR_TEST_SIZE "full" CACHE STRING "full, small or tiny: how much the tests walk; small is for slow builds and emulators, tiny for memory checkers")

# invar_test_environment(TEST THREADS n): the environment in which a test runs. Tests use more threads than a small
# machine has cores, so waiting threads must sleep: a spinning one keeps the core from the thread it waits for.
function(invar_test_environment test)
  cmake_parse_arguments(arg "" "THREADS" "" ${ARGN})
  set_tests_properties(${test} PROPERTIES ENVIRONMENT
    "INVAR_TEST_SIZE=${INVAR_TEST_SIZE};OMP_NUM_THREADS=${arg_THREADS};OMP_PROC_BIND=false;OMP_DYNAMIC=false;OMP_WAIT_POLICY=passive;GOMP_SPINCOUNT=0;KMP_BLOCKTIME=0")
endfunction()
