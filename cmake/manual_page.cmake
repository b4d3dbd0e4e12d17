# The help of every command as a page for man: cmake -D PROGRAM=espalier -D FILE=espalier.1 -P manual_page.cmake

# Preformatted text: roff reads a line that begins with a dot or an apostrophe as a request.
function(append_help)
  execute_process(COMMAND ${PROGRAM} ${ARGN} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "([\\-])" "\\\\\\1" text "${help}")
  string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" text "${text}")
  string(JOIN " " name espalier ${ARGN})
  file(APPEND ${FILE} ".SH ${name}\n.nf\n${text}.fi\n")
  string(REGEX MATCH "\nSubcommands:\n.*" list "${help}")
  string(REGEX MATCHALL "\n  [a-z]+" commands "${list}")
  foreach(command ${commands})
    string(STRIP "${command}" command)
    append_help(${ARGN} ${command})
  endforeach()
endfunction()

execute_process(COMMAND ${PROGRAM} --version OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "[^\n]*" version "${version}")
string(REPLACE "-" "\\-" version "${version}")
file(WRITE ${FILE} ".TH ESPALIER 1 \"\" \"${version}\" \"User Commands\"\n"
  ".SH NAME\nespalier \\- simulate collectives on accelerator interconnects\n")
append_help()
