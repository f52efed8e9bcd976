# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs BUILD_DIR to an empty PREFIX, so that nothing of an earlier installation helps a consumer.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${PREFIX} --config "${CONFIG}"
                COMMAND_ERROR_IS_FATAL ANY)
