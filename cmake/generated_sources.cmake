# Sources that CMake writes: layer tables, Verilog, presets, the fields of results, schemas, texts of the command line and the
# page of reports become part of the program, so that it finds them wherever it runs.

# Layer tables of configs/networks, in the order in which users see them.
set(built_in_networks
  alexnet "image classification, 2012"
  alphago_zero "the game of Go, 20 blocks, 2017"
  faster_rcnn "object detection: ResNet-50 to conv4 and region proposals, 2015"
  gnmt "translation, 8 + 8 LSTM layers and attention, 2016"
  googlenet "image classification, Inception modules, 2015"
  ncf "recommendation, neural collaborative filtering, 2017"
  resnet152 "image classification, residual blocks, 152 layers, 2016"
  resnet50 "image classification, residual blocks, 2016"
  transformer "translation, base model, 2017")

function(espalier_write_built_in_networks template target)
  set(BUILT_IN_NETWORKS "")
  set(rest ${built_in_networks})
  while(rest)
    list(POP_FRONT rest name summary)
    set(file ${PROJECT_SOURCE_DIR}/configs/networks/${name}.csv)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} table)
    string(APPEND BUILT_IN_NETWORKS
           "      {\"${name}\", \"${summary}\", R\"table(${table})table\"},\n")
  endwhile()
  configure_file(${template} ${target} @ONLY)
endfunction()

# The Verilog of hw/rtl, and the scripts of synthesis.
function(espalier_write_built_in_rtl template target)
  set(BUILT_IN_RTL "")
  foreach(name ni_control dependency_state fifo_control dimension_queue readiness_table row_repeat slot_counter fp_adder dma_engine packetizer
          message_table program_context program_scoreboard slot_credits output_state credit_counter switch_allocator)
    set(file ${PROJECT_SOURCE_DIR}/hw/rtl/${name}.v)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} source)
    string(APPEND BUILT_IN_RTL
           "    case RtlModule::${name}:\n      return {\"${name}\", R\"source(${source})source\"};\n")
  endforeach()
  set(SYNTHESIS_SCRIPTS "")
  foreach(name map.abc timing.tcl probes.v probes.ys delay.ys areas.lib)
    set(file ${PROJECT_SOURCE_DIR}/sims/synthesis/${name})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} script)
    string(APPEND SYNTHESIS_SCRIPTS "  if (name == \"${name}\") return R\"script(${script})script\";\n")
  endforeach()
  configure_file(${template} ${target} @ONLY)
endfunction()

# Writes the files of a folder, each given as NAME=FILE, in the places @NAME@ of a template.
function(espalier_write_files folder template target)
  foreach(embedded ${ARGN})
    string(REPLACE "=" ";" embedded ${embedded})
    list(GET embedded 0 name)
    list(GET embedded 1 file)
    set(file ${PROJECT_SOURCE_DIR}/${folder}/${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} ${name})
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/${folder}/${template} ${target} @ONLY)
endfunction()

# The page of `espalier report`: its own files, and the chart library of this machine.
find_file(ESPALIER_CHART_JS NAMES chart.min.js Chart.min.js PATHS /usr/share/javascript/chart.js /usr/share/javascript/chart.js/dist
          NO_DEFAULT_PATH DOC "Chart.js 3, minified")
function(espalier_write_page_files template target)
  if(NOT ESPALIER_CHART_JS)
    message(FATAL_ERROR "Chart.js is not installed. Install Debian's libjs-chart.js, or name the file: "
                        "-DESPALIER_CHART_JS=.../chart.min.js (version 3)")
  endif()
  file(READ ${ESPALIER_CHART_JS} CHART_LIBRARY)
  if(NOT CHART_LIBRARY MATCHES "Chart\\.js v3\\.")
    message(FATAL_ERROR "${ESPALIER_CHART_JS} is not version 3 of Chart.js: its first lines do not say 'Chart.js v3.'")
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/sims/page)
  file(READ ${folder}/page.html PAGE_TEMPLATE)
  file(READ ${folder}/picture.css PICTURE_STYLE)
  file(READ ${folder}/page.css PAGE_STYLE)
  set(PAGE_SCRIPT "")
  foreach(name page axes charts maps)
    file(READ ${folder}/${name}.js script)
    string(APPEND PAGE_SCRIPT "${script}")
  endforeach()
  foreach(name page.html picture.css page.css page.js axes.js charts.js maps.js)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${name})
  endforeach()
  configure_file(${template} ${target} @ONLY)
endfunction()

# The table of families of networks: a row for each function `Family <name>_family()` in the files.
function(espalier_write_families target)
  set(FAMILY_FUNCTIONS "")
  set(FAMILY_ROWS "")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} source)
    string(REGEX MATCHALL "\nFamily [a-z0-9_]+_family\\(\\)" functions "${source}")
    foreach(function ${functions})
      string(REGEX REPLACE "\nFamily " "" row "${function}")
      string(APPEND FAMILY_FUNCTIONS "Family ${row};\n")
      string(APPEND FAMILY_ROWS "${row}, ")
    endforeach()
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/hw/topology/families/families.cpp.in ${target} @ONLY)
endfunction()

include(cmake/results.cmake)
set(generated ${PROJECT_BINARY_DIR}/generated)
file(GLOB families CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/hw/topology/families/*.cpp)
espalier_write_families(${generated}/families.cpp ${families})
set(espalier_generated_espalier_hw_topology_families ${generated}/families.cpp)
espalier_write_built_in_networks(${PROJECT_SOURCE_DIR}/sims/workload/training/networks.cpp.in ${generated}/networks.cpp)
set(espalier_generated_espalier_sims_workload_training ${generated}/networks.cpp)
espalier_write_built_in_rtl(${PROJECT_SOURCE_DIR}/sims/synthesis/rtl_source.cpp.in ${generated}/rtl_source.cpp)
set(espalier_generated_espalier_sims_synthesis ${generated}/rtl_source.cpp)
espalier_write_page_files(${PROJECT_SOURCE_DIR}/sims/page/page_files.cpp.in ${generated}/page_files.cpp)
set(espalier_generated_espalier_sims_page ${generated}/page_files.cpp)
espalier_write_files(sims/experiment embedded_files.cpp.in ${generated}/experiment_files.cpp RESULTS_SCHEMA=results.schema.json SWEEP_SCHEMA=../study/sweep.schema.json)
set(results ${generated}/include/sims/experiment)
espalier_write_results(${PROJECT_SOURCE_DIR}/sims/experiment/results.txt ${results})
set(espalier_generated_espalier_sims_experiment ${generated}/experiment_files.cpp ${results}/result_parts.cpp
    ${results}/result_names.h ${results}/result_parts.h)
espalier_write_files(sims/config presets_file.cpp.in ${generated}/presets_file.cpp PRESETS=presets.yaml)
espalier_write_files(sims/config keys_file.cpp.in ${generated}/keys_file.cpp KEYS=keys.txt)
set(espalier_generated_espalier_sims_config ${generated}/presets_file.cpp ${generated}/keys_file.cpp)
espalier_write_files(sims/nccl tuning_file.cpp.in ${generated}/tuning_file.cpp TUNING=tuning.yaml)
set(espalier_generated_espalier_sims_nccl ${generated}/tuning_file.cpp)
espalier_write_files(sims/cli embedded_files.cpp.in ${generated}/cli_files.cpp COMMAND_LINE=command_line.txt NAMES=names.txt
                     COLUMNS=columns.txt COMPLETION=completion.bash)
set(espalier_generated_espalier_sims_cli ${generated}/cli_files.cpp)
