# The pages that the program writes of itself: cmake --build build/release --target docs. Included, this file defines the target; run
# with -P, it writes the pages. They are not in git, because they would repeat what the program prints.
cmake_policy(VERSION 3.25)
if(NOT CMAKE_SCRIPT_MODE_FILE)
  add_custom_target(docs
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:espalier> -DOUT=${PROJECT_BINARY_DIR}/docs -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS espalier VERBATIM)
  return()
endif()

function(printed variable)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# A page of what these commands print.
function(code_page file title)
  set(page "# ${title}\n")
  foreach(command ${ARGN})
    separate_arguments(words UNIX_COMMAND "${command}")
    printed(text ${words})
    string(APPEND page "\n## espalier ${command}\n```text\n${text}```\n")
  endforeach()
  file(WRITE ${OUT}/${file} "${page}")
endfunction()

code_page(keys.md "Keys of a configuration" schema)
code_page(names.md "Algorithms, topologies, networks, presets: the names that a configuration may use" list)

code_page(result_fields.md "Fields of a result; docs/results.md says how to read them" "schema --results")

# Of every command that the help names, and of the commands below it.
function(commands_of variable)
  printed(text help ${ARGN})
  string(REGEX REPLACE "^.*\nSubcommands:\n" "" list "${text}")
  if(list STREQUAL text)
    set(list "")
  endif()
  string(REGEX MATCHALL "(^|\n)  [a-z]+" names "${list}")
  list(TRANSFORM names STRIP)
  set(${variable} ${names} PARENT_SCOPE)
endfunction()
set(helps "--help")
commands_of(commands)
foreach(command ${commands})
  list(APPEND helps "help ${command}")
  commands_of(below ${command})
  foreach(name ${below})
    list(APPEND helps "help ${command} ${name}")
  endforeach()
endforeach()
code_page(command_line.md "Commands and options" ${helps})
message(STATUS "wrote keys.md, names.md, result_fields.md and command_line.md into ${OUT}")
