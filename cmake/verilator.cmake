# The Verilog of hw/rtl as C++, by verilator, so that it can decide inside of the simulation (ni/rtl, router/rtl). Models
# are wide enough for most systems. Without verilator the simulation has no RTL.
find_package(verilator QUIET PATHS /usr/share/verilator /usr/local/share/verilator)
set(ESPALIER_HAS_RTL OFF)
set(espalier_rtl "")
if(verilator_FOUND)
  set(ESPALIER_HAS_RTL ON)
  set(espalier_rtl espalier_rtl_models)
  file(WRITE ${PROJECT_BINARY_DIR}/generated/rtl_models.cpp "// CMake wants a source; the models are added to it.\n")
  add_library(espalier_rtl_models STATIC ${PROJECT_BINARY_DIR}/generated/rtl_models.cpp)
  verilate(espalier_rtl_models SOURCES ${PROJECT_SOURCE_DIR}/hw/rtl/ni_control.v PREFIX RtlNiControl TOP_MODULE ni_control
           VERILATOR_ARGS -Wall -O3 --x-assign fast --x-initial fast -GS=32 -GL=32 -GI=16)
  foreach(model "RtlOutputHoldPort;-GSHARED=1" "RtlOutputHoldVc;-GSHARED=0")
    list(GET model 0 prefix)
    list(GET model 1 shared)
    verilate(espalier_rtl_models
             SOURCES ${PROJECT_SOURCE_DIR}/hw/rtl/output_hold.v ${PROJECT_SOURCE_DIR}/hw/rtl/output_state.v
                     ${PROJECT_SOURCE_DIR}/hw/rtl/switch_allocator.v
             PREFIX ${prefix} TOP_MODULE output_hold
             VERILATOR_ARGS -Wall -O3 --x-assign fast --x-initial fast -GP=16 -GV=16 ${shared})
  endforeach()
  target_compile_options(espalier_rtl_models PRIVATE -w)
  # Only ni/rtl and router/rtl include the models, so the installed library needs none of their folders.
  get_target_property(folders espalier_rtl_models INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(espalier_rtl_models PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "")
  target_include_directories(espalier_rtl_models SYSTEM INTERFACE "$<BUILD_INTERFACE:${folders}>")
  list(APPEND espalier_left_out ${PROJECT_SOURCE_DIR}/ni/rtl/rtl_missing.cpp
       ${PROJECT_SOURCE_DIR}/router/rtl/rtl_hold_missing.cpp)
else()
  list(APPEND espalier_left_out ${PROJECT_SOURCE_DIR}/ni/rtl/rtl_sequencer.cpp
       ${PROJECT_SOURCE_DIR}/router/rtl/rtl_output_hold.cpp)
  message(STATUS "No RTL in the simulation: Debian's verilator is not installed")
endif()
