// The messages that have partly arrived at an NI: for each its tag and the packets that are missing.
// A message's first packet takes the lowest free entry; the packet that makes it complete frees it.
// Packets of a message may arrive in any order.
module message_table #(
    parameter N = 16,  // entries
    parameter K = 16,  // bits of a tag
    parameter C = 16   // bits of a message's packets
) (
    input wire clk,
    input wire reset,
    input wire arrive,               // a packet's tail
    input wire [K-1:0] tag,
    input wire [C-1:0] packets,      // of the message, from the header
    output wire complete,            // the message, with this packet
    output wire full                 // there is no entry for another message
);
  reg [N-1:0] used;
  wire [N-1:0] match;
  wire [N-1:0] lowest = ~used & (used + 1'b1);
  wire [N-1:0] last;
  wire known = |match;
  wire single = packets == 1;
  assign full = &used;
  assign complete = arrive & (known ? |(match & last) : single);

  genvar n;
  generate
    for (n = 0; n < N; n = n + 1) begin : entry
      reg [K-1:0] its_tag;
      reg [C-1:0] missing;
      wire takes = arrive & ~known & ~single & lowest[n];
      assign match[n] = used[n] & (its_tag == tag);
      assign last[n] = missing == 1;
      always @(posedge clk) begin
        if (takes) its_tag <= tag;
        if (takes) missing <= packets - 1'b1;
        else if (arrive & match[n]) missing <= missing - 1'b1;
        if (reset) used[n] <= 1'b0;
        else if (takes) used[n] <= 1'b1;
        else if (arrive & match[n] & last[n]) used[n] <= 1'b0;
      end
    end
  endgenerate
endmodule
