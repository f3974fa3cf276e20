# SPDX-License-Identifier: Apache-2.0
# Install tree and package files: find_package(raggedgemm) gives raggedgemm::raggedgemm, and
# raggedgemm::compiled where it was built.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/raggedgemm)
install(DIRECTORY include/raggedgemm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
set(exported raggedgemm)
if(TARGET raggedgemm_compiled)
  list(APPEND exported raggedgemm_compiled)
endif()
install(TARGETS ${exported} EXPORT raggedgemm_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT raggedgemm_targets
  NAMESPACE raggedgemm:: FILE raggedgemm-targets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/raggedgemm-config.cmake.in
  ${PROJECT_BINARY_DIR}/raggedgemm-config.cmake INSTALL_DESTINATION ${package_folder})
# 0.x: a minor version may break.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/raggedgemm-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/raggedgemm-config.cmake
  ${PROJECT_BINARY_DIR}/raggedgemm-config-version.cmake
  DESTINATION ${package_folder})
