// The slots of one program context's connections: the free slots at the receiver of the connection to
// which it sends, and the slots that the connection from which it receives has filled.
module slot_credits #(
    parameter B = 4  // bits of a number of slots
) (
    input wire clk,
    input wire reset,
    input wire [B-1:0] slots,  // of the sending connection
    input wire send,           // takes a slot
    input wire credit,         // a slot at the receiver is free again
    input wire arrived,        // a slot has been filled
    input wire take,           // its data
    output wire may_send,
    output wire has_arrived
);
  reg [B-1:0] free;
  reg [B-1:0] filled;
  assign may_send = |free;
  assign has_arrived = |filled;
  always @(posedge clk) begin
    if (reset) free <= slots;
    else if (send & ~credit) free <= free - 1'b1;
    else if (credit & ~send) free <= free + 1'b1;
    if (reset) filled <= {B{1'b0}};
    else if (arrived & ~take) filled <= filled + 1'b1;
    else if (take & ~arrived) filled <= filled - 1'b1;
  end
endmodule
