# One static library per layer: a layer names the layers it stands on, and the linker refuses the rest.
# tests/layers.cmake checks the same rule for #include lines.
function(espalier_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;USES" ${ARGN})
  add_library(${name} STATIC ${LAYER_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${LAYER_USES})
  espalier_compile_flags(${name})
endfunction()

function(espalier_compile_flags target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow
                                           -Wnon-virtual-dtor)
  if(ESPALIER_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(ESPALIER_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=all
                                             -fno-omit-frame-pointer)
    # GCC's false alarms about std::function and <regex> under sanitizers.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()
