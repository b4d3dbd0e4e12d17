# Step 2 of "Adding an algorithm" (CONTRIBUTING.md): writes OUT, a copy of the registry REGISTRY with two lines more.
#   cmake -DREGISTRY=alg/generators/generators.cpp -DOUT=file -P register_star.cmake
file(READ ${REGISTRY} text)
string(REPLACE "Generator dbtree_row();" "Generator dbtree_row();\nGenerator star_row();" text "${text}")
string(REPLACE "dbtree_row()," "dbtree_row(), star_row()," text "${text}")
if(NOT text MATCHES "Generator star_row\\(\\);" OR NOT text MATCHES "dbtree_row\\(\\), star_row\\(\\),")
  message(FATAL_ERROR "${REGISTRY}: expected a declaration and an entry of dbtree_row() to add star_row() behind")
endif()
file(WRITE ${OUT} "${text}")
