# `cmake --install`: the component `program`, which is the program with its manual page, completions and examples; and the
# library behind find_package(Espalier): headers under include/espalier, named as in the sources, and one target,
# Espalier::espalier.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY espalier_libraries)
get_property(folders GLOBAL PROPERTY espalier_header_folders)

add_library(espalier_library INTERFACE)
set_target_properties(espalier_library PROPERTIES EXPORT_NAME espalier)
target_compile_features(espalier_library INTERFACE cxx_std_17)
target_link_libraries(espalier_library INTERFACE ${libraries})

set(exported espalier_library ${libraries})
if(ESPALIER_HAS_FST)
  list(APPEND exported fstapi espalier_fst_memory)
endif()
if(ESPALIER_RTL)
  list(APPEND exported espalier_rtl_models)
endif()
install(TARGETS espalier RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(DIRECTORY configs DESTINATION share/espalier COMPONENT program)
install(FILES LICENSE DESTINATION share/doc/espalier COMPONENT program RENAME copyright)
install(TARGETS ${exported} EXPORT EspalierTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/espalier)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Espalier)
install(EXPORT EspalierTargets NAMESPACE Espalier:: DESTINATION ${package_folder})
foreach(folder ${folders})
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.h)
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/espalier/${folder})
endforeach()

install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/espalier FILES_MATCHING PATTERN "*.h")

configure_package_config_file(cmake/EspalierConfig.cmake.in EspalierConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(EspalierConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/EspalierConfig.cmake ${PROJECT_BINARY_DIR}/EspalierConfigVersion.cmake
        ${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake DESTINATION ${package_folder})

# The manual page is the help of all commands, and the program writes its own completions.
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DPROGRAM=$<TARGET_FILE:espalier>\"
                \"-DFILE=${PROJECT_BINARY_DIR}/espalier.1\" -P \"${PROJECT_SOURCE_DIR}/cmake/manual_page.cmake\"
                COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/espalier.1 DESTINATION share/man/man1 COMPONENT program)
foreach(page "bash;share/bash-completion/completions/espalier" "zsh;share/zsh/site-functions/_espalier")
  list(GET page 0 shell)
  list(GET page 1 file)
  string(REPLACE "/" "_" made ${file})
  install(CODE "execute_process(COMMAND \"$<TARGET_FILE:espalier>\" completion ${shell}
                OUTPUT_FILE \"${PROJECT_BINARY_DIR}/${made}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
  get_filename_component(name ${file} NAME)
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${PROJECT_BINARY_DIR}/${made} DESTINATION ${folder} RENAME ${name} COMPONENT program)
endforeach()
