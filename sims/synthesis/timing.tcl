# The critical path of the netlist, registers' setup included. `top` and `period` are set before.
read_liberty cells.lib
read_verilog netlist.v
link_design $top
set_cmd_units -time ps
if {[llength [get_ports -quiet clk]]} {
  create_clock -name clock -period $period [get_ports clk]
} else {
  create_clock -name clock -period $period
}
foreach port [all_inputs] {
  if {[get_property $port full_name] ne "clk"} {
    set_input_delay 0 -clock clock $port
  }
}
set_output_delay 0 -clock clock [all_outputs]
report_checks -path_delay max > timing.txt
exit
