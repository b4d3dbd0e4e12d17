# The Verilog of hw/rtl as C++, by verilator, so that it can decide inside of the simulation (ni/rtl). One model of each module,
# wide enough for every system. Without verilator the simulation has no RTL.
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
  # As many push ports as places, because all chunks of a collective arrive in its first cycle.
  foreach(places 64 256 1024)
    # Loops that are not unrolled are slower, but larger models have too many statements.
    set(loops --unroll-count 1024 --unroll-stmts 1)
    if(places EQUAL 64)
      set(loops --unroll-count 1024 --unroll-stmts 30000)
    endif()
    foreach(order "Fifo -GFIFO=1" "ScfNewest -GNEWEST=1" "ScfOldest -GNEWEST=0")
      separate_arguments(order)
      list(POP_FRONT order name)
      verilate(espalier_rtl_models SOURCES ${PROJECT_SOURCE_DIR}/hw/rtl/dimension_queue.v PREFIX Rtl${name}${places}
               TOP_MODULE dimension_queue
               VERILATOR_ARGS -Wall -O3 --x-assign fast --x-initial fast ${loops}
                              -GN=${places} -GP=${places} -GK=64 -GI=32 -GA=10 ${order})
    endforeach()
  endforeach()
  target_compile_options(espalier_rtl_models PRIVATE -w)
  # Only ni/rtl includes the models, so the installed library needs none of their folders.
  get_target_property(folders espalier_rtl_models INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(espalier_rtl_models PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "")
  target_include_directories(espalier_rtl_models SYSTEM INTERFACE "$<BUILD_INTERFACE:${folders}>")
  list(APPEND espalier_left_out ${PROJECT_SOURCE_DIR}/ni/rtl/rtl_missing.cpp)
else()
  list(APPEND espalier_left_out ${PROJECT_SOURCE_DIR}/ni/rtl/rtl_sequencer.cpp ${PROJECT_SOURCE_DIR}/ni/rtl/rtl_dimension_queue.cpp)
  message(STATUS "No RTL in the simulation: Debian's verilator is not installed")
endif()
