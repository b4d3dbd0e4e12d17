# Everything is a Debian 12 package; nothing is downloaded at build time.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc)
pkg_check_modules(YAMLCPP REQUIRED IMPORTED_TARGET yaml-cpp)
find_package(CLI11 2.1 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(pugixml 1.13 REQUIRED)
