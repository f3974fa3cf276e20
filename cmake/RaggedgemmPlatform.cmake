# SPDX-License-Identifier: Apache-2.0
# How our own targets are compiled for RAGGEDGEMM_PLATFORM, and raggedgemm_program().
# Nothing here reaches the exported targets.

add_library(raggedgemm_build_flags INTERFACE)
set(cxx $<COMPILE_LANGUAGE:CXX>)
target_compile_options(raggedgemm_build_flags INTERFACE
  $<${cxx}:-Wall -Wextra -Wconversion -Wshadow>
  $<$<AND:${cxx},$<CXX_COMPILER_ID:Clang>>:-Wstring-conversion -Wno-sign-conversion>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(RAGGEDGEMM_WARNINGS_AS_ERRORS)
  target_compile_options(raggedgemm_build_flags INTERFACE
    $<${cxx}:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
if(RAGGEDGEMM_SANITIZE)
  target_compile_options(raggedgemm_build_flags INTERFACE
    $<${cxx}:-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer>)
  target_link_options(raggedgemm_build_flags INTERFACE -fsanitize=address,undefined)
endif()

if(RAGGEDGEMM_PLATFORM STREQUAL "cuda")
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90a-real CACHE STRING "CUDA architectures; Hopper's kernels need 90a")
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  target_link_libraries(raggedgemm_build_flags INTERFACE CUDA::cudart_static)
  # Register and spill figures of every kernel in the build log; tests/isa reads them.
  target_compile_options(raggedgemm_build_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:--diag-suppress=20012>)
elseif(RAGGEDGEMM_PLATFORM STREQUAL "hip")
  # CMake's own HIP language does not find a Debian layout; sources are C++ with -x hip, for
  # hipcc and for upstream clang alike.
  set(RAGGEDGEMM_HIP_ARCHITECTURES "gfx942;gfx950" CACHE STRING "HIP targets")
  set(RAGGEDGEMM_ROCM_PATH "/opt/rocm" CACHE PATH "ROCm, or a prefix made by cmake/hip_toolchain.sh")
  find_path(hip_include hip/hip_runtime.h
    HINTS ${RAGGEDGEMM_ROCM_PATH}/include ${RAGGEDGEMM_ROCM_PATH}/usr/include REQUIRED)
  find_library(hip_library amdhip64
    HINTS ${RAGGEDGEMM_ROCM_PATH}/lib ${RAGGEDGEMM_ROCM_PATH}/usr/lib/x86_64-linux-gnu REQUIRED)
  get_filename_component(hip_prefix ${hip_include} DIRECTORY)
  file(GLOB_RECURSE hip_device_library ${hip_prefix}/lib*/ockl.bc ${hip_prefix}/amdgcn/ockl.bc)
  set(hip_options -x hip --rocm-path=${hip_prefix} -fno-gpu-rdc)
  if(hip_device_library)
    list(GET hip_device_library 0 first)
    get_filename_component(hip_device_folder ${first} DIRECTORY)
    list(APPEND hip_options --rocm-device-lib-path=${hip_device_folder})
  endif()
  foreach(arch IN LISTS RAGGEDGEMM_HIP_ARCHITECTURES)
    list(APPEND hip_options --offload-arch=${arch})
  endforeach()
  add_library(raggedgemm_hip_flags INTERFACE)
  target_compile_options(raggedgemm_hip_flags INTERFACE ${hip_options})
  target_include_directories(raggedgemm_hip_flags SYSTEM INTERFACE ${hip_include})
  add_library(raggedgemm_hip_runtime INTERFACE)
  target_link_libraries(raggedgemm_hip_runtime INTERFACE ${hip_library})
  target_link_options(raggedgemm_hip_runtime INTERFACE -Wl,--allow-shlib-undefined)
endif()

# Makes a target's sources sources of the platform.
function(raggedgemm_compile_for_platform target)
  target_link_libraries(${target} PRIVATE raggedgemm_build_flags)
  if(RAGGEDGEMM_PLATFORM STREQUAL "cuda")
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
      if(source MATCHES "\\.(cpp|cu)$")
        set_source_files_properties(${source} PROPERTIES LANGUAGE CUDA)
      endif()
    endforeach()
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
  elseif(RAGGEDGEMM_PLATFORM STREQUAL "hip")
    target_link_libraries(${target} PRIVATE raggedgemm_hip_flags raggedgemm_hip_runtime)
  endif()
endfunction()

# raggedgemm_program(NAME SOURCES … [LIBRARIES …] [HEADER_ONLY])
# An executable compiled for the platform. Links raggedgemm::compiled where that is built, unless
# HEADER_ONLY: then its sources instantiate the core kernels themselves.
function(raggedgemm_program name)
  cmake_parse_arguments(arg "HEADER_ONLY" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  raggedgemm_compile_for_platform(${name})
  if(TARGET raggedgemm_compiled AND NOT arg_HEADER_ONLY)
    target_link_libraries(${name} PRIVATE raggedgemm::compiled)
  else()
    target_link_libraries(${name} PRIVATE raggedgemm::raggedgemm)
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
endfunction()
