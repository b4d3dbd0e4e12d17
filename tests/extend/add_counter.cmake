# The two steps of "Adding a counter" (CONTRIBUTING.md), in copies of the files in OUT.
#   cmake -DSOURCE_DIR=folder -DOUT=folder -P add_counter.cmake
function(edit file before after)
  file(READ ${SOURCE_DIR}/${file} text)
  string(FIND "${text}" "${before}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${file}: expected the line: ${before}")
  endif()
  string(REPLACE "${before}" "${after}" text "${text}")
  get_filename_component(name ${file} NAME)
  file(WRITE ${OUT}/${name} "${text}")
endfunction()

# Step 1: a row of the list of counters.
set(row "      {\"link_conflicts\",")
edit(hw/counters.cpp "${row}"
     "      {\"toy_messages\", \"messages\", false, \"messages that NIs send\"},\n${row}")
# Step 2: the module counts.
set(send "MessageId NetworkInterface::send(const Operation& stripe, MessageId whole, Cycle now) {\n")
edit(ni/network_interface.cpp "${send}" "${send}  ++counters_[counter(\"toy_messages\")];\n")
