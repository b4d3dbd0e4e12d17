# Writes OUTPUT, a header with the commit of the clone at SOURCE_DIR: "+g1234abcd", "+g1234abcd-dirty" with local changes, and
# nothing where there is no clone, such as in an unpacked archive. The file changes only if the commit does. Run by every build.
find_program(git_program git)
set(commit "")
if(git_program AND EXISTS ${SOURCE_DIR}/.git)
  execute_process(
    COMMAND ${git_program} -C ${SOURCE_DIR} describe --always --dirty --abbrev=8 --exclude=*
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND described)
    set(commit "+g${described}")
  endif()
endif()
set(text "#pragma once\n#define ESPALIER_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
