# Run inside GTKWave: what it makes of the save file it was opened with.
puts "facilities [gtkwave::getNumFacs]"
puts "window [gtkwave::getWindowStartTime] [gtkwave::getWindowEndTime] of [gtkwave::getMinTime] [gtkwave::getMaxTime]"
foreach name [gtkwave::getDisplayedSignals] { puts "signal $name" }
gtkwave::setMarker 1500
for {set row 0} {$row < [gtkwave::getTotalNumTraces]} {incr row} {
  puts "value [gtkwave::getTraceNameFromIndex $row] [gtkwave::getTraceValueAtMarkerFromIndex $row]"
}
puts "finished"
flush stdout
exit
