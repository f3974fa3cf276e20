# SPDX-License-Identifier: Apache-2.0
# raggedgemm::compiled: every config row for the host and for RAGGEDGEMM_PLATFORM, in sources written
# into the build folder.

# lhs:rhs:out, by the names of DType.
set(RAGGEDGEMM_COMPILED_TYPES
    "bf16:bf16:bf16;bf16:bf16:f32;f16:f16:f16;f16:f16:f32;f32:f32:f32;f64:f64:f64;s8:s8:s32;s8:s8:s8;e4m3fn:e4m3fn:f32;e4m3fn:e4m3fn:bf16;e5m2:e5m2:f32;e5m2:e5m2:bf16;e4m3fnuz:e4m3fnuz:f32;e4m3fnuz:e4m3fnuz:bf16;e5m2fnuz:e5m2fnuz:f32;e5m2fnuz:e5m2fnuz:bf16"
    CACHE STRING "Dtypes of raggedgemm::compiled, lhs:rhs:out")

set(type_bf16 bf16)
set(type_f16 fp16)
set(type_f32 float)
set(type_f64 double)
set(type_s8 std::int8_t)
set(type_s32 std::int32_t)
foreach(format e4m3fn e5m2 e4m3fnuz e5m2fnuz)
  set(type_${format} fp8_${format})
endforeach()
set(variants non_contracting contracting batch)
set(type_non_contracting NonContracting)
set(type_contracting Contracting)
set(type_batch Batch)

set(compiled_platforms host)
if(NOT RAGGEDGEMM_PLATFORM STREQUAL "host")
  list(APPEND compiled_platforms ${RAGGEDGEMM_PLATFORM})
endif()

# Notes that the kernels of `listed_variants` for the dtypes lhs, rhs and out belong into the source
# `name`: their functions wait in functions_<name>, the names in `sources`.
function(raggedgemm_add_kernels sources name platform listed_variants lhs rhs out)
  set(functions "${functions_${name}}")
  foreach(variant IN LISTS listed_variants)
    string(APPEND functions
      "KernelSet kernels_${platform}_${variant}_${lhs}_${rhs}_${out}() noexcept {\n"
      "  return dispatch::kernels<Platform::${platform},\n"
      "                           kernel::${type_${variant}},\n"
      "                           Types<${type_${lhs}}, ${type_${rhs}}, ${type_${out}}>,\n"
      "                           Identity,\n"
      "                           true>();\n"
      "}\n\n")
  endforeach()
  set(functions_${name} "${functions}" PARENT_SCOPE)
  set(${sources} ${${sources}} ${name} PARENT_SCOPE)
endfunction()

set(folder ${PROJECT_BINARY_DIR}/compiled)
set(suffix_host .cpp)
set(suffix_cuda .cu)
set(suffix_hip .hip.cpp)
set(declarations "")
set(cases "")
foreach(platform IN LISTS compiled_platforms)
  set(names_${platform})
endforeach()
foreach(types IN LISTS RAGGEDGEMM_COMPILED_TYPES)
  string(REPLACE ":" ";" names ${types})
  list(GET names 0 lhs)
  list(GET names 1 rhs)
  list(GET names 2 out)
  foreach(platform IN LISTS compiled_platforms)
    # Sources that share operands share the compiler's work on the headers. Only kernels that compile
    # for long have sources of their own: of 16-bit types on GPUs each variant, with HIP each output,
    # too.
    set(base ${platform}_${lhs}_${rhs})
    if(NOT platform STREQUAL "host" AND lhs MATCHES "^(bf16|f16)$")
      if(platform STREQUAL "hip")
        string(APPEND base _${out})
      endif()
      foreach(variant IN LISTS variants)
        raggedgemm_add_kernels(names_${platform} ${base}_${variant} ${platform} ${variant} ${lhs} ${rhs} ${out})
      endforeach()
    else()
      raggedgemm_add_kernels(names_${platform} ${base} ${platform} "${variants}" ${lhs} ${rhs} ${out})
    endif()
    foreach(variant IN LISTS variants)
      set(function kernels_${platform}_${variant}_${lhs}_${rhs}_${out})
      string(APPEND declarations "KernelSet ${function}() noexcept;\n")
      string(APPEND cases
        "  if (platform == Platform::${platform} && variant == Variant::${variant} &&\n"
        "      lhs == DType::${lhs} && rhs == DType::${rhs} && out == DType::${out})\n"
        "    return ${function}();\n")
    endforeach()
  endforeach()
endforeach()

set(sources_host)
set(sources_device)
foreach(platform IN LISTS compiled_platforms)
  list(REMOVE_DUPLICATES names_${platform})
  foreach(name IN LISTS names_${platform})
    set(source ${folder}/${name}${suffix_${platform}})
    set(functions "${functions_${name}}")
    configure_file(${PROJECT_SOURCE_DIR}/cmake/compiled_kernels.cpp.in ${source} @ONLY)
    if(platform STREQUAL "host")
      list(APPEND sources_host ${source})
    else()
      list(APPEND sources_device ${source})
    endif()
  endforeach()
endforeach()
set(default_platform ${RAGGEDGEMM_PLATFORM})
set(any_types ${lhs}_${rhs}_${out})  # of the list, whichever
configure_file(${PROJECT_SOURCE_DIR}/cmake/compiled_registry.cpp.in ${folder}/registry.cpp @ONLY)

# Host kernels are compiled by the C++ compiler, device kernels by the platform's.
add_library(raggedgemm_compiled STATIC
  ${folder}/registry.cpp ${PROJECT_SOURCE_DIR}/cmake/c_api.cpp ${sources_host})
add_library(raggedgemm::compiled ALIAS raggedgemm_compiled)
set_target_properties(raggedgemm_compiled PROPERTIES
  EXPORT_NAME compiled OUTPUT_NAME raggedgemm POSITION_INDEPENDENT_CODE ON)
target_link_libraries(raggedgemm_compiled PUBLIC raggedgemm PRIVATE $<BUILD_INTERFACE:raggedgemm_build_flags>)
target_compile_definitions(raggedgemm_compiled INTERFACE RAGGEDGEMM_COMPILED)
if(sources_device)
  add_library(raggedgemm_compiled_device OBJECT ${sources_device})
  set_target_properties(raggedgemm_compiled_device PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(raggedgemm_compiled_device PRIVATE raggedgemm)
  raggedgemm_compile_for_platform(raggedgemm_compiled_device)
  target_sources(raggedgemm_compiled PRIVATE $<TARGET_OBJECTS:raggedgemm_compiled_device>)
endif()
if(RAGGEDGEMM_PLATFORM STREQUAL "cuda")
  target_link_libraries(raggedgemm_compiled PUBLIC CUDA::cudart_static)
elseif(RAGGEDGEMM_PLATFORM STREQUAL "hip")
  target_link_libraries(raggedgemm_compiled PUBLIC ${hip_library})
  target_link_options(raggedgemm_compiled PUBLIC -Wl,--allow-shlib-undefined)
endif()

# The C interface as a shared library, for callers that load it at run time.
if(RAGGEDGEMM_BUILD_SHARED)
  add_library(raggedgemm_c SHARED ${PROJECT_SOURCE_DIR}/cmake/c_api.cpp)
  target_link_libraries(raggedgemm_c PRIVATE raggedgemm_compiled raggedgemm_build_flags)
  target_include_directories(raggedgemm_c INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS raggedgemm_c EXPORT raggedgemm_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
