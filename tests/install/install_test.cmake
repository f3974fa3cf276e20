# SPDX-License-Identifier: Apache-2.0
# Takes the library as a user does, builds the user's programs and runs them:
#   cmake -DHOW=install|subdirectory -DSOURCE_DIR=… -DBUILD_DIR=… -DWORK_DIR=… -DGENERATOR=…
#         [-DUSER_OPTIONS=…] -P install_test.cmake
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed (${code}): ${ARGN}")
  endif()
endfunction()

if(HOW STREQUAL "install")
  run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
  set(where -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
  # The package must stand alone: no path of the source or build tree in it.
  file(GLOB_RECURSE package ${WORK_DIR}/prefix/*.cmake)
  if(NOT package)
    message(FATAL_ERROR "nothing was installed that find_package can find")
  endif()
  foreach(file IN LISTS package)
    file(READ ${file} text)
    foreach(tree ${SOURCE_DIR}/include ${BUILD_DIR})
      string(FIND "${text}" "${tree}" at)
      if(NOT at EQUAL -1)
        message(FATAL_ERROR "${file} names ${tree}")
      endif()
    endforeach()
  endforeach()
else()
  set(where -DRAGGEDGEMM_SOURCE_DIR=${SOURCE_DIR})
endif()
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/install/consumer -B ${WORK_DIR}/build -G ${GENERATOR} ${where}
  ${USER_OPTIONS})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK_DIR}/build --output-on-failure --no-tests=error)
