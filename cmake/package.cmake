# `cmake --build build/release --target package`: a Debian package of what `cmake --install` gives as component `program`. It
# depends on the libraries that dpkg-shlibdeps finds; without that tool (Debian: dpkg-dev) there is no such target.
find_program(dpkg_shlibdeps dpkg-shlibdeps)
if(dpkg_shlibdeps)
  set(CMAKE_SKIP_PACKAGE_ALL_DEPENDENCY ON)  # or the tests would be built first
  set(CPACK_GENERATOR DEB)
  set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};espalier;program;/")
  set(CPACK_PACKAGE_CONTACT "The Espalier authors")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "cycle-level model of accelerator interconnects and their network interfaces")
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  include(CPack)
endif()
