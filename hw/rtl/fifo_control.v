// Pointers and occupancy of one queue in a memory of 2^A words, a VC's or an NI port's: a credit is
// a free word, and virtual cut-through asks for a whole packet's room.
module fifo_control #(
    parameter A = 9  // bits of a pointer
) (
    input wire clk,
    input wire reset,
    input wire write,
    input wire read,
    output reg [A-1:0] write_pointer,
    output reg [A-1:0] read_pointer,
    output reg [A:0] count,
    output wire empty,
    output wire full
);
  assign empty = count == 0;
  assign full = count[A];
  wire writes = write & ~full;
  wire reads = read & ~empty;
  always @(posedge clk) begin
    if (reset) begin
      write_pointer <= 0;
      read_pointer <= 0;
      count <= 0;
    end else begin
      if (writes) write_pointer <= write_pointer + 1'b1;
      if (reads) read_pointer <= read_pointer + 1'b1;
      if (writes & ~reads) count <= count + 1'b1;
      else if (reads & ~writes) count <= count - 1'b1;
    end
  end
endmodule
