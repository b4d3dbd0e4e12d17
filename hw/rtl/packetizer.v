// The packetizer of one injection port: puts a header in front of each packet, marks head and tail,
// and sends on the lowest VC that has credits for a whole packet (virtual cut-through). Credits are
// those of the injection channel.
module packetizer #(
    parameter W = 128,  // bits of a flit
    parameter V = 4,    // VCs
    parameter C = 9,    // bits of a VC's credits, more than F
    parameter F = 5,    // bits of a packet's flits
    parameter N = 16    // bits of a message's packets
) (
    input wire clk,
    input wire reset,
    input wire start,                 // of a message; only while idle
    input wire [N-1:0] packets,
    input wire [W-1:0] header,
    input wire data_here,             // of the packet that is next, read by the DMA engine
    input wire [W-1:0] data,
    input wire [F-1:0] packet_flits,  // of the packet that is next, its head included
    input wire by_message,            // the VC is kept until the message's tail
    input wire [V-1:0] credit,        // comes back, by VC
    output wire idle,
    output wire takes_data,
    output reg valid,                 // a flit leaves
    output reg head,
    output reg tail,
    output reg [V-1:0] vc,            // one bit
    output reg [W-1:0] flit
);
  reg [N-1:0] packets_left;
  reg [F-1:0] flits_left;  // of the packet on its way
  reg [V-1:0] owned;
  reg keeps;  // the owned VC, for the next packet of the message

  wire [V-1:0] has_room;
  wire sending = |flits_left;
  wire [V-1:0] free = keeps ? has_room & owned : has_room;
  wire [V-1:0] lowest = free & (~free + 1'b1);
  wire begins = ~sending & (|packets_left) & data_here & (|free);
  wire ends_packet = flits_left == 1;
  wire ends_message = ends_packet & (packets_left == 0);
  // In two halves, so that the borrow does not pass all bits.
  localparam H = N / 2;
  wire [N-H-1:0] upper = packets_left[N-1:H];
  wire [N-1:0] one_less = {(|packets_left[H-1:0]) ? upper : upper - 1'b1,
                           packets_left[H-1:0] - 1'b1};
  assign idle = ~sending & ~(|packets_left);
  assign takes_data = sending;

  genvar v;
  generate
    for (v = 0; v < V; v = v + 1) begin : lane
      reg [C-1:0] credits;
      wire uses = (begins & lowest[v]) | (sending & owned[v]);
      wire [C-1:0] need = {{(C-F){1'b0}}, packet_flits};
      // Of the next cycle: which comparison holds then is known last.
      reg room;
      assign has_room[v] = room;
      always @(posedge clk) begin
        if (reset) credits <= {C{1'b1}};
        else if (uses & ~credit[v]) credits <= credits - 1'b1;
        else if (credit[v] & ~uses) credits <= credits + 1'b1;
        room <= (uses & ~credit[v]) ? need < credits :
                (credit[v] & ~uses) ? need <= credits + 1'b1 : need <= credits;
      end
    end
  endgenerate

  always @(posedge clk) begin
    if (reset) begin
      packets_left <= {N{1'b0}};
      flits_left <= {F{1'b0}};
      keeps <= 1'b0;
      valid <= 1'b0;
    end else begin
      valid <= begins | sending;
      if (start) packets_left <= packets;
      else if (begins) packets_left <= one_less;
      if (begins) flits_left <= packet_flits - 1'b1;
      else if (sending) flits_left <= flits_left - 1'b1;
      if (begins) keeps <= by_message;
      else if (ends_message) keeps <= 1'b0;
    end
    if (begins) owned <= lowest;
    head <= begins & ~keeps;
    tail <= by_message ? ends_message : ends_packet;
    vc <= begins ? lowest : owned;
    flit <= begins & ~keeps ? header : data;
  end
endmodule
