// The sequencer of an NI's schedule table (MultiTree, sections IV-A and V-A): the timestep counter,
// the lockstep down-counter that the first entry of a step arms with the step's estimated time, and
// the decision which of the next entries issue. Entries issue in table order, up to I in a cycle.
// It decides in every cycle what ni/engines/table_sequencer.h says.
module ni_control #(
    parameter S = 8,   // bits of a timestep
    parameter L = 16,  // bits of the lockstep counter
    parameter I = 1    // entries in a cycle
) (
    input wire clk,
    input wire reset,
    input wire [1:0] mode,             // 0 off, 1 estimate, 2 drain, 3 full
    // The next entries; bit 0 is the head entry.
    input wire [I-1:0] valid,          // the table's memory has given the entry
    input wire [I*S-1:0] entry_step,   // not before the present step
    input wire [I-1:0] clear,          // its messages have come and are written back, its slot too
    input wire [I-1:0] room,           // in the injection queues, beside the entries before it
    input wire [L-1:0] step_time,      // of the head entry's step
    input wire posted,                 // the host's doorbell for the next step has rung
    input wire reduction_idle,
    input wire all_sent,               // the sends of the present step have left this NI
    output wire enter_step,            // the next step begins in this cycle
    output reg [I-1:0] issue,          // the entry is done with; a NOP has no sends
    output wire arms,                  // the head entry issues and arms the lockstep counter
    output wire [S-1:0] timestep,      // of this cycle
    output wire [L-1:0] lockstep       // cycles, with this one, for which the step is held
);
  reg [S-1:0] step /* verilator public_flat_rd */;
  // 1 too many, so that step_time is loaded as it is; stops at 1.
  reg [L-1:0] counter /* verilator public_flat_rd */;
  reg armed /* verilator public_flat_rd */;  // an entry of the step has issued

  wire held = |counter[L-1:1];
  wire [S-1:0] next_step = step + {{(S-1){1'b0}}, 1'b1};
  wire [L-1:0] less = counter - {{(L-1){1'b0}}, 1'b1};
  assign lockstep = held ? less : {L{1'b0}};

  // The table is in the order of steps, so a head entry of another step is of a later one. Before
  // the first step there is nothing to wait for but the host.
  wire in_step = entry_step[S-1:0] == step;
  wire step_ends = (mode == 2'd0) | ~(|step) |
                   (~held & reduction_idle & ((mode != 2'd2) | all_sent));
  assign enter_step = valid[0] & ~in_step & posted & step_ends;
  assign timestep = enter_step ? next_step : step;

  reg go;
  integer e;
  always @* begin
    go = enter_step ? entry_step[S-1:0] == next_step : in_step;
    for (e = 0; e < I; e = e + 1) begin
      if (e != 0) go = go & (entry_step[e*S +: S] == timestep);
      go = go & valid[e] & clear[e] & room[e];
      issue[e] = go;
    end
  end

  // Modes `estimate` and `full` hold the step for step_time cycles, this one included.
  assign arms = issue[0] & (enter_step | ~armed) & mode[0];

  always @(posedge clk) begin
    if (reset) begin
      step <= {S{1'b0}};
      counter <= {L{1'b0}};
      armed <= 1'b1;
    end else begin
      step <= timestep;
      if (arms) counter <= step_time;
      else if (held) counter <= less;
      armed <= issue[0] | (armed & ~enter_step);
    end
  end
endmodule
