# The Verilog of hw/rtl as C++, by verilator, so that it can decide inside of the simulation (ni/rtl, router/rtl): only where it
# is asked for, since it takes a fifth of the time of a build. A model of each module, wide enough for most systems.
option(ESPALIER_RTL "The Verilog of hw/rtl in the simulation, for simulation.rtl (needs verilator)" OFF)
set(ESPALIER_OWN_VERILOG "" CACHE STRING "Files that replace the files of the same name in hw/rtl, in the simulation and its tests")
set(espalier_rtl "")
set(espalier_own_verilog "")
foreach(own ${ESPALIER_OWN_VERILOG})
  get_filename_component(name ${own} NAME_WE)
  get_filename_component(own ${own} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  if(NOT name MATCHES "^(ni_control|dependency_state|dimension_queue|output_hold|output_state|switch_allocator)$")
    message(FATAL_ERROR "ESPALIER_OWN_VERILOG: ${own}: no ${name}.v decides in the simulation (docs/plug_in.md)")
  elseif(NOT ESPALIER_RTL OR NOT EXISTS ${own})
    message(FATAL_ERROR "ESPALIER_OWN_VERILOG: ${own}: the file must exist, and needs ESPALIER_RTL=ON")
  endif()
  set(espalier_own_${name} ${own})
  list(APPEND espalier_own_verilog ${name}.v)
endforeach()

# espalier_rtl_model(Prefix "files" PARAMETER=VALUE...): the first file's module, as class Prefix.
function(espalier_rtl_model prefix files)
  set(sources "")
  foreach(file ${files})
    if(DEFINED espalier_own_${file})
      list(APPEND sources ${espalier_own_${file}})
    else()
      list(APPEND sources ${PROJECT_SOURCE_DIR}/hw/rtl/${file}.v)
    endif()
  endforeach()
  list(GET files 0 top)
  list(TRANSFORM ARGN PREPEND -G)
  # Loops that are not unrolled are slower, but larger models have too many statements.
  set(statements 30000)
  if("-GN=256" IN_LIST ARGN)
    set(statements 1)
  endif()
  verilate(espalier_rtl_models SOURCES ${sources} PREFIX ${prefix} TOP_MODULE ${top}
           VERILATOR_ARGS -Wall -O3 --x-assign fast --x-initial fast --output-split 0 --unroll-count 1024
                          --unroll-stmts ${statements} ${ARGN})
endfunction()

if(ESPALIER_RTL)
  find_package(verilator QUIET PATHS /usr/share/verilator /usr/local/share/verilator)
  if(NOT verilator_FOUND)
    message(FATAL_ERROR "ESPALIER_RTL: verilator is not installed (Debian: verilator)")
  endif()
  set(espalier_rtl espalier_rtl_models)
  file(WRITE ${PROJECT_BINARY_DIR}/generated/rtl_models.cpp "// CMake wants a source; the models are added to it.\n")
  add_library(espalier_rtl_models STATIC ${PROJECT_BINARY_DIR}/generated/rtl_models.cpp)
  espalier_rtl_model(RtlNiControl ni_control S=32 L=32 I=16)
  espalier_rtl_model(RtlDependencyState dependency_state N=8192 I=16 T=4 G=64)
  # As many push ports as places, because all chunks of a collective arrive in its first cycle.
  set(size N=256 P=256 K=64 I=32 A=10)
  espalier_rtl_model(RtlFifo dimension_queue ${size} FIFO=1)
  espalier_rtl_model(RtlScfNewest dimension_queue ${size} NEWEST=1)
  espalier_rtl_model(RtlScfOldest dimension_queue ${size} NEWEST=0)
  set(output_hold output_hold output_state switch_allocator)
  espalier_rtl_model(RtlOutputHoldPort "${output_hold}" P=16 V=16 SHARED=1)
  espalier_rtl_model(RtlOutputHoldVc "${output_hold}" P=16 V=16 SHARED=0)
  espalier_unity(espalier_rtl_models 12)
  # Verilator's own sources stay objects of their own: a program that brings them along takes none from this library.
  get_target_property(runtime espalier_rtl_models SOURCES)
  list(FILTER runtime INCLUDE REGEX "/verilated[a-z_]*\\.cpp$")
  set_source_files_properties(${runtime} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_compile_options(espalier_rtl_models PRIVATE -w $<$<CONFIG:Debug>:-O1>)
  # Only ni/rtl and router/rtl include the models: no other target is compiled anew where the option changes, and the
  # installed library needs none of their folders.
  get_target_property(espalier_rtl_includes espalier_rtl_models INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(espalier_rtl_models PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "")
  foreach(target espalier_ni_rtl espalier_router_rtl)
    cmake_language(EVAL CODE
      "cmake_language(DEFER CALL target_include_directories ${target} SYSTEM PRIVATE \"${espalier_rtl_includes}\")")
  endforeach()
  list(APPEND espalier_left_out ${PROJECT_SOURCE_DIR}/ni/rtl/rtl_missing.cpp
       ${PROJECT_SOURCE_DIR}/router/rtl/rtl_hold_missing.cpp)
else()
  list(APPEND espalier_left_out ${PROJECT_SOURCE_DIR}/ni/rtl/rtl_sequencer.cpp ${PROJECT_SOURCE_DIR}/ni/rtl/rtl_dependencies.cpp
       ${PROJECT_SOURCE_DIR}/ni/rtl/rtl_dimension_queue.cpp ${PROJECT_SOURCE_DIR}/router/rtl/rtl_output_hold.cpp)
endif()
