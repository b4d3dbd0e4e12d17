// The slot counter of the schedule table: the clock cycles since the NI entered the timestep, and
// whether the slot of the head entry has come. An entry without a slot has slot 0. The counter stops
// behind the last slot. The decision is that of ni/engines/schedule_table_engine.*.
module slot_counter #(
    parameter N = 32  // bits of a slot
) (
    input wire clk,
    input wire enter_step,        // the timestep begins in the next cycle
    input wire [N-1:0] slot,      // of the head entry
    output wire reached
);
  reg [N:0] cycles;
  assign reached = cycles[N] | ~(cycles[N-1:0] < slot);

  always @(posedge clk) begin
    if (enter_step) cycles <= {N+1{1'b0}};
    else if (~cycles[N]) cycles <= cycles + 1'b1;
  end
endmodule
