// A row of a schedule table that repeats, as the NI reads it: whether it issues in this pass of its
// loop, and what is written back in its place. A row issues in `count` passes from `first_pass` on;
// its strides are added to flow, step, slot and address, and its last message may be shorter.
// The decisions are those of alg/schedule/repeated_rows.*.
module row_repeat #(
    parameter A = 64,  // bits of addresses and sizes
    parameter N = 16   // bits of a flow, step, slot, pass or count
) (
    input wire clk,
    input wire reset,
    input wire take,                   // the row is done with: it has issued, or it is passed
    input wire last_row,               // of the loop
    input wire [N-1:0] first_pass,
    input wire [N-1:0] count,          // of the passes that are left
    input wire [N-1:0] flow,
    input wire [N-1:0] flow_stride,
    input wire [N-1:0] step,
    input wire [N-1:0] step_stride,
    input wire [N-1:0] slot,
    input wire [N-1:0] slot_stride,
    input wire [A-1:0] address,
    input wire [A-1:0] address_stride,
    input wire [A-1:0] size,
    input wire [A-1:0] last_size,
    output wire issues,
    output wire [A-1:0] issued_size,
    output wire [N-1:0] next_count,
    output wire [N-1:0] next_flow,
    output wire [N-1:0] next_step,
    output wire [N-1:0] next_slot,
    output wire [A-1:0] next_address,
    output wire loop_over              // this is the last row of the loop's last pass
);
  reg [N-1:0] pass;
  reg left;  // a row of this pass has passes left

  assign issues = (|count) & ~(pass < first_pass);
  wire is_last = count == {{(N-1){1'b0}}, 1'b1};
  assign issued_size = is_last ? last_size : size;
  assign next_count = count - {{(N-1){1'b0}}, issues};
  assign next_flow = flow + flow_stride;
  assign next_step = step + step_stride;
  assign next_slot = slot + slot_stride;
  assign next_address = address + address_stride;
  wire row_left = (|count) & ~(issues & is_last);
  assign loop_over = last_row & ~left & ~row_left;

  always @(posedge clk) begin
    if (reset) begin
      pass <= {N{1'b0}};
      left <= 1'b0;
    end else if (take) begin
      if (last_row) begin
        pass <= loop_over ? {N{1'b0}} : pass + 1'b1;
        left <= 1'b0;
      end else begin
        left <= left | row_left;
      end
    end
  end
endmodule
