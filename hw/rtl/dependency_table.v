// Dependencies that table entries still wait for: N tags (flow, and child or parent). One is entered
// in a free place, an arrived message's tag clears the one that matches.
module dependency_table #(
    parameter N = 16,
    parameter K = 12
) (
    input wire clk,
    input wire reset,
    input wire enter,
    input wire [N-1:0] place,  // one bit: where
    input wire [K-1:0] enter_tag,
    input wire clear,
    input wire [K-1:0] clear_tag,
    output wire hit,
    output reg [N-1:0] pending
);
  reg [K-1:0] tags[0:N-1];
  wire [N-1:0] match;
  genvar n;
  generate
    for (n = 0; n < N; n = n + 1) begin : entry
      assign match[n] = pending[n] & (tags[n] == clear_tag);
      always @(posedge clk) begin
        if (enter & place[n]) tags[n] <= enter_tag;
        if (reset) pending[n] <= 1'b0;
        else if (enter & place[n]) pending[n] <= 1'b1;
        else if (clear & match[n]) pending[n] <= 1'b0;
      end
    end
  endgenerate
  assign hit = clear & |match;
endmodule
