# The version of the program, with the commit at the time of the build. Only version.cpp is compiled again after a commit.
set(espalier_commit_header ${PROJECT_BINARY_DIR}/generated/commit/commit.h)
add_custom_target(espalier_commit
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${espalier_commit_header}
          -P ${PROJECT_SOURCE_DIR}/cmake/commit.cmake
  BYPRODUCTS ${espalier_commit_header} VERBATIM)
add_dependencies(espalier espalier_commit)
# Results and --version name Verilog that is not the program's.
list(JOIN espalier_own_verilog " and " own)
if(own)
  set(own " with own ${own}")
endif()
set(version_source ${PROJECT_SOURCE_DIR}/sims/cli/version.cpp)
set_source_files_properties(${version_source} PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON
  INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated/commit
  OBJECT_DEPENDS ${espalier_commit_header}
  COMPILE_DEFINITIONS "ESPALIER_VERSION=\"${PROJECT_VERSION}\";ESPALIER_OWN=\"${own}\";ESPALIER_BUILD_TYPE=\"${CMAKE_BUILD_TYPE}\";ESPALIER_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\";ESPALIER_WITH_FST=$<BOOL:${ESPALIER_HAS_FST}>")
