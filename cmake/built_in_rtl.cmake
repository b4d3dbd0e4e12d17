# Writes the Verilog of hw/rtl into a source file, so that the program finds it wherever it runs.
function(espalier_write_built_in_rtl template target)
  set(BUILT_IN_RTL "")
  foreach(name ni_control dependency_table fifo_control scf_finder readiness_table)
    set(file ${PROJECT_SOURCE_DIR}/hw/rtl/${name}.v)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} source)
    string(APPEND BUILT_IN_RTL
           "    case RtlModule::${name}:\n      return {\"${name}\", R\"source(${source})source\"};\n")
  endforeach()
  configure_file(${template} ${target} @ONLY)
endfunction()
