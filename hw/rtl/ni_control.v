// Control of the NI's schedule table (MultiTree, section V-A): the timestep counter, the lockstep
// down-counter that a NOP arms with a step's estimated time, and the decision whether the head entry
// issues: its step is the present one, its dependencies are clear, and the DMA engine takes it.
// The decisions are those of ni/schedule_table_engine.*.
module ni_control #(
    parameter S = 8,   // bits of a timestep
    parameter L = 16   // bits of the lockstep counter
) (
    input wire clk,
    input wire reset,
    input wire head_valid,
    input wire [1:0] op,  // 0 NOP, 1 Reduce, 2 Gather
    input wire [S-1:0] head_step,
    input wire [L-1:0] step_time,      // of the head entry, which arms the counter
    input wire parent_valid,
    input wire parent_clear,           // the parent's chunk has come (Gather)
    input wire [3:0] child_valid,
    input wire [3:0] child_clear,      // the children's have (Reduce)
    input wire dma_ready,
    output wire issue_reduce,
    output wire issue_gather,
    output wire pop,                   // the head entry is done with
    output reg [S-1:0] timestep,
    output wire in_lockstep            // the step is held
);
  reg [L-1:0] counter;
  assign in_lockstep = |counter;

  wire is_nop = op == 2'd0;
  wire is_reduce = op == 2'd1;
  wire is_gather = op == 2'd2;
  wire children_clear = &(~child_valid | child_clear);
  wire depends_clear = is_reduce ? children_clear : (~parent_valid | parent_clear);
  wire in_step = head_valid & (head_step == timestep);
  wire ready = in_step & depends_clear & dma_ready;

  assign issue_reduce = ready & is_reduce;
  assign issue_gather = ready & is_gather;
  wire arm = in_step & is_nop & ~in_lockstep;
  assign pop = issue_reduce | issue_gather | arm;
  // The head belongs to a later step, and nothing holds this one.
  wire advance = head_valid & ~(head_step == timestep) & ~in_lockstep;

  always @(posedge clk) begin
    if (reset) begin
      timestep <= {S{1'b0}};
      counter <= {L{1'b0}};
    end else begin
      if (advance) timestep <= timestep + 1'b1;
      if (arm) counter <= step_time;
      else if (in_lockstep) counter <= counter - 1'b1;
    end
  end
endmodule
