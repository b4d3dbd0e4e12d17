# Step 2 of "Adding an algorithm" and "Adding a topology" (CONTRIBUTING.md): writes OUT, a copy of the table in REGISTRY with a
# declaration and an entry of ROW behind those of AFTER.
#   cmake -DREGISTRY=alg/generators/generators.cpp -DAFTER=dbtree_row -DROW=star_row -DOUT=file -P register.cmake
file(READ ${REGISTRY} text)
string(REGEX REPLACE "\n([A-Za-z]+) ${AFTER}\\(\\);" "\\0\n\\1 ${ROW}();" text "${text}")
string(REPLACE " ${AFTER}()," " ${AFTER}(), ${ROW}()," text "${text}")
if(NOT text MATCHES "[A-Za-z]+ ${ROW}\\(\\);" OR NOT text MATCHES "${AFTER}\\(\\), ${ROW}\\(\\),")
  message(FATAL_ERROR "${REGISTRY}: expected a declaration and an entry of ${AFTER}() to add ${ROW}() behind")
endif()
file(WRITE ${OUT} "${text}")
