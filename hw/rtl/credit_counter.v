// Credits for one VC of the next channel, at the output that leads there: how many of the VC's D
// flits are free, as far as the output knows. The rules are those of flowctl/vc_buffer.h.
module credit_counter #(
    parameter D = 318,  // flits
    parameter C = $clog2(D + 1)
) (
    input wire clk,
    input wire reset,
    input wire sends,           // a flit leaves on the VC
    input wire credit,          // a flit has left the buffer at the other end
    input wire [C-1:0] packet,  // flits of the packet that asks: one with wormhole switching
    output reg [C-1:0] credits,
    output wire room
);
  assign room = packet <= credits;
  always @(posedge clk) begin
    if (reset) credits <= D[C-1:0];
    else if (credit & ~sends) credits <= credits + 1'b1;
    else if (sends & ~credit) credits <= credits - 1'b1;
  end
endmodule
