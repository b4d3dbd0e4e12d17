# GTKWave's writer of FST files. No Debian package has it as a library, but verilator's has the sources,
# for the simulators that verilator makes. They are compiled from where they are; without them
# waveforms are VCD only.
find_package(ZLIB)
find_path(FST_SOURCE_DIR fstapi.c
  HINTS ENV VERILATOR_ROOT
  PATHS /usr /usr/local
  PATH_SUFFIXES share/verilator/include/gtkwave include/gtkwave
  DOC "Folder of GTKWave's fstapi.c, in Debian of the package verilator")

set(ESPALIER_HAS_FST OFF)
set(espalier_fst "")
if(ZLIB_FOUND AND FST_SOURCE_DIR)
  set(ESPALIER_HAS_FST ON)
  set(espalier_fst fstapi)
  enable_language(C)
  add_library(espalier_fst_memory STATIC ${PROJECT_SOURCE_DIR}/sims/observe/waves/fst_memory.cpp)
  espalier_compile_flags(espalier_fst_memory)
  add_library(fstapi STATIC
    ${FST_SOURCE_DIR}/fastlz.c
    ${FST_SOURCE_DIR}/fstapi.c
    ${FST_SOURCE_DIR}/lz4.c)
  target_include_directories(fstapi SYSTEM PUBLIC ${FST_SOURCE_DIR})
  # fclose, mmap: sims/observe/waves/fst_format.cpp; malloc: sims/observe/waves/fst_memory.cpp
  target_compile_definitions(fstapi PRIVATE "FST_CONFIG_INCLUDE=\"fst_config.h\""
                                            fclose=espalier_fst_fclose mmap=espalier_fst_mmap
                                            malloc=espalier_fst_malloc)
  target_compile_options(fstapi PRIVATE -w)
  target_link_libraries(fstapi PUBLIC espalier_fst_memory ZLIB::ZLIB)
  list(APPEND espalier_left_out ${PROJECT_SOURCE_DIR}/sims/observe/waves/fst_missing.cpp)
else()
  list(APPEND espalier_left_out ${PROJECT_SOURCE_DIR}/sims/observe/waves/fst_format.cpp)
  message(STATUS "No FST: Debian's verilator and zlib1g-dev are not installed")
endif()
list(APPEND espalier_left_out ${PROJECT_SOURCE_DIR}/sims/observe/waves/fst_memory.cpp)
