// The scoreboard of an NI's program contexts: how many steps each context has done, over all passes,
// and for each context whether the context that it waits for has come far enough. Counts wrap around.
module program_scoreboard #(
    parameter N = 8,   // contexts
    parameter B = 16,  // bits of a count
    parameter I = N > 1 ? $clog2(N) : 1
) (
    input wire clk,
    input wire reset,
    input wire [N-1:0] step_done,
    input wire [N*I-1:0] waits_for,   // by context: a context
    input wire [N*B-1:0] until_count,
    output wire [N-1:0] ready
);
  reg [B-1:0] count[0:N-1];
  genvar n;
  generate
    for (n = 0; n < N; n = n + 1) begin : of_context
      wire [B-1:0] ahead = count[waits_for[n*I+:I]] - until_count[n*B+:B];
      assign ready[n] = ~ahead[B-1];
      always @(posedge clk) begin
        if (reset) count[n] <= {B{1'b0}};
        else if (step_done[n]) count[n] <= count[n] + 1'b1;
      end
    end
  endgenerate
endmodule
