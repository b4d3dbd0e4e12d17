# The fields of results, of which sims/experiment/results.txt is the list (its first lines describe it).
#
# espalier_write_results(LIST FOLDER) writes into FOLDER
#   result_parts.h, .cpp   write_fields(Json&, part) for each part of a result, and the table of all fields;
#   result_names.h         a constant for each field, by which a result is read.
function(espalier_write_results list folder)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(READ ${list} text)
  # Without comments and empty lines; every line begins with \n, every cell is between "| " and " |".
  string(REGEX REPLACE "\n#[^\n]*" "\n" text "\n${text}")
  string(REGEX REPLACE "\n+" "\n" text "${text}")
  string(REGEX REPLACE "\n$" "" text "${text}")
  string(REPLACE "| |" "|  |" text "${text}")
  string(REPLACE "| |" "|  |" text "${text}")
  set(cell " [|] ([^|\n]*)")
  set(row "\n([^| =+\n]+)${cell}${cell}${cell}${cell}${cell}${cell}${cell}")

  string(REGEX REPLACE "\n([+]|==|[A-Za-z0-9_]+ =) [^\n]*" "" rows "${text}")
  string(REGEX REPLACE "${row}" "\n    {\"\\1\", ResultType::\\2, \"\\3\", \"\\4\", \"\\5\", \"\\6\", R\"f(\\8)f\"}," RESULT_FIELDS "${rows}")

  string(REGEX REPLACE "${row}" "\n  put(to, \"\\1\", \\7);" writers "${text}")
  string(REGEX REPLACE "\n  put[^\n]*, [)];" "" writers "${writers}")  # no value here
  string(REGEX REPLACE "put[(]to, \"[^\"]*[.]([^\".]+)\"" "put(to, \"\\1\"" writers "${writers}")
  string(REGEX REPLACE "\n([A-Za-z0-9_]+) = ([^\n]+)" "\n  put(to, \"\\1\", \\2);" writers "${writers}")
  string(REGEX REPLACE "\n[+] ([^\n]+)" "\n  write_fields(to, \\1);" writers "${writers}")
  string(REGEX REPLACE "\n  ([^\n]+) if ([^\n]+)[)];" "\n  if (\\2) \\1);" writers "${writers}")
  string(REGEX REPLACE "put[(]to, \"([a-z]+)[*]\"" "put_each(to, \"\\1\"" writers "${writers}")
  set(function "void write_fields(nlohmann::ordered_json& to, const ")
  string(REGEX REPLACE "\n== ([A-Za-z]+) ([a-z]+)" "\n}\n\n${function}\\1& \\2) {" writers "${writers}")
  string(REGEX REPLACE "^\n}" "" RESULT_WRITERS "${writers}\n}")
  if("${RESULT_FIELDS}" MATCHES "\n([^ ][^\n]*|[^\n]*}, *[|][^\n]*)" OR "${RESULT_WRITERS}" MATCHES "\n([^ v}\n][^\n]*|v[^o][^\n]*)")
    message(FATAL_ERROR "${list}: expected a field, a part, a value or a comment (see its first lines): ${CMAKE_MATCH_1}")
  endif()

  set(RESULT_PARTS "")
  string(REGEX MATCHALL "\n== [A-Za-z]+" parts "${text}")
  foreach(part ${parts})
    string(REGEX REPLACE "\n== " "" part "${part}")
    string(APPEND RESULT_PARTS "${function}${part}& part);\n")
  endforeach()

  set(RESULT_NAMES "")
  string(REGEX MATCHALL "\n[^ \n]+ [|] [a-z]+ " rows "${rows}")
  foreach(field ${rows})
    string(REGEX MATCH "\n([^ ]+) [|] ([a-z]+)" field "${field}")
    set(field "${CMAKE_MATCH_1}")
    set(type ${CMAKE_MATCH_2})
    string(REGEX REPLACE ".*(\\[\\]|[*])[.]" "" path "${field}")  # in an entry of a list, in dim1, dim2, ...
    string(REGEX REPLACE "\\[\\]|[*]" "" name "${field}")
    string(REPLACE "." "_" name "${name}")
    if(NOT field MATCHES "[*]$")
      string(APPEND RESULT_NAMES "inline constexpr FieldName<ResultType::${type}> ${name}{{\"${path}\"}};\n")
    endif()
  endforeach()

  foreach(file result_names.h result_parts.h result_parts.cpp)
    configure_file(${PROJECT_SOURCE_DIR}/sims/experiment/${file}.in ${folder}/${file} @ONLY)
  endforeach()
endfunction()
