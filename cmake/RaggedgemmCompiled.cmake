# SPDX-License-Identifier: Apache-2.0
# raggedgemm::compiled: every config row for the host and for RAGGEDGEMM_PLATFORM, one source for
# each variant and dtypes, written into the build folder.

# lhs:rhs:out, by the names of DType.
set(RAGGEDGEMM_COMPILED_TYPES
    "bf16:bf16:bf16;bf16:bf16:f32;f16:f16:f16;f16:f16:f32;f32:f32:f32"
    CACHE STRING "Dtypes of raggedgemm::compiled, lhs:rhs:out")

set(type_bf16 bf16)
set(type_f16 fp16)
set(type_f32 float)
set(variants non_contracting contracting batch)
set(type_non_contracting NonContracting)
set(type_contracting Contracting)
set(type_batch Batch)

set(compiled_platforms host)
if(NOT RAGGEDGEMM_PLATFORM STREQUAL "host")
  list(APPEND compiled_platforms ${RAGGEDGEMM_PLATFORM})
endif()

set(folder ${PROJECT_BINARY_DIR}/compiled)
set(sources_host)
set(sources_device)
set(declarations "")
set(cases "")
foreach(platform IN LISTS compiled_platforms)
  foreach(variant IN LISTS variants)
    foreach(types IN LISTS RAGGEDGEMM_COMPILED_TYPES)
      string(REPLACE ":" ";" names ${types})
      list(GET names 0 lhs)
      list(GET names 1 rhs)
      list(GET names 2 out)
      set(function kernels_${platform}_${variant}_${lhs}_${rhs}_${out})
      set(variant_type ${type_${variant}})
      set(lhs_type ${type_${lhs}})
      set(rhs_type ${type_${rhs}})
      set(out_type ${type_${out}})
      if(platform STREQUAL "host")
        set(source ${folder}/${function}.cpp)
        list(APPEND sources_host ${source})
      elseif(platform STREQUAL "cuda")
        set(source ${folder}/${function}.cu)
        list(APPEND sources_device ${source})
      else()
        set(source ${folder}/${function}.hip.cpp)
        list(APPEND sources_device ${source})
      endif()
      configure_file(${PROJECT_SOURCE_DIR}/cmake/compiled_kernels.cpp.in ${source} @ONLY)
      string(APPEND declarations "KernelSet ${function}() noexcept;\n")
      string(APPEND cases
        "  if (platform == Platform::${platform} && variant == Variant::${variant} &&\n"
        "      lhs == DType::${lhs} && rhs == DType::${rhs} && out == DType::${out})\n"
        "    return ${function}();\n")
    endforeach()
  endforeach()
endforeach()
set(default_platform ${RAGGEDGEMM_PLATFORM})
configure_file(${PROJECT_SOURCE_DIR}/cmake/compiled_registry.cpp.in ${folder}/registry.cpp @ONLY)

# Host kernels are compiled by the C++ compiler, device kernels by the platform's.
add_library(raggedgemm_compiled STATIC ${folder}/registry.cpp ${sources_host})
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
