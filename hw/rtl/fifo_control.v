// Pointers and credits of one queue of D flits, a VC's or an NI port's. A credit is a free word.
// Wormhole switching asks for one, virtual cut-through for those of a whole packet. The rules are
// those of flowctl/vc_buffer.h.
module fifo_control #(
    parameter D = 318,  // flits
    parameter A = D > 1 ? $clog2(D) : 1,
    parameter C = $clog2(D + 1)
) (
    input wire clk,
    input wire reset,
    input wire write,
    input wire read,
    input wire [C-1:0] packet,  // flits of the packet that asks for room
    output reg [A-1:0] write_pointer,
    output reg [A-1:0] read_pointer,
    output reg [C-1:0] free,
    output wire empty,
    output wire full,
    output wire room
);
  localparam [31:0] LAST = D - 1;
  assign empty = free == D[C-1:0];
  assign full = free == {C{1'b0}};
  assign room = packet <= free;
  wire writes = write & ~full;
  wire reads = read & ~empty;
  always @(posedge clk) begin
    if (reset) begin
      write_pointer <= {A{1'b0}};
      read_pointer <= {A{1'b0}};
      free <= D[C-1:0];
    end else begin
      if (writes) write_pointer <= write_pointer == LAST[A-1:0] ? {A{1'b0}} : write_pointer + 1'b1;
      if (reads) read_pointer <= read_pointer == LAST[A-1:0] ? {A{1'b0}} : read_pointer + 1'b1;
      if (reads & ~writes) free <= free + 1'b1;
      else if (writes & ~reads) free <= free - 1'b1;
    end
  end
endmodule
