# Configures, builds and runs the project beside this file.
# cmake -D WAY=find_package|subdirectory -D SOURCE=... -D RICCI_BUILD=... -D WORK=... -D COMPILER=... -P run.cmake
set(options -G Ninja -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=Debug)
if(WAY STREQUAL find_package)
  set(prefix ${WORK}/prefix)
  file(REMOVE_RECURSE ${prefix})
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${RICCI_BUILD} --prefix ${prefix}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND options -D CMAKE_PREFIX_PATH=${prefix})
else()
  # As a user's build, which knows nothing of ours; ccache only spares the library's second compilation.
  find_program(ccache ccache)
  list(APPEND options -D RICCI_SOURCE=${SOURCE} -D CMAKE_CXX_COMPILER_LAUNCHER=${ccache})
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE}/tests/consumer/project -B ${WORK}/build ${options}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build --target consumer COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/consumer COMMAND_ERROR_IS_FATAL ANY)
