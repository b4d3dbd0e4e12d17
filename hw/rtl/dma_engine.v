// The DMA engine of one injection port: cuts a request into reads of a packet's payload, 2^P bytes,
// and counts the reads that memory has not answered.
module dma_engine #(
    parameter A = 64,  // bits of addresses and sizes
    parameter P = 8,   // log2 of a packet's payload in bytes
    parameter O = 5    // bits of the count of outstanding reads
) (
    input wire clk,
    input wire reset,
    input wire start,                  // of a request; only while idle
    input wire [A-1:0] start_address,
    input wire [A-1:0] start_size,     // bytes
    input wire room,                   // of a packet in the injection buffer, or memory takes a read
    input wire answer,                 // memory has answered a read
    output wire idle,
    output wire read,
    output wire [A-1:0] read_address,
    output wire [P:0] read_bytes,
    output wire last                   // read of the request
);
  reg [A-1:0] address;
  reg [A-1:0] left;
  reg [O-1:0] outstanding;

  wire whole = |left[A-1:P];  // a packet's payload is left
  assign idle = ~(|left);
  assign read = ~idle & room & ~(&outstanding);
  assign read_address = address;
  assign read_bytes = whole ? {1'b1, {P{1'b0}}} : {1'b0, left[P-1:0]};
  assign last = read & (~(|left[A-1:P]) | ((left[A-1:P] == 1) & ~(|left[P-1:0])));

  always @(posedge clk) begin
    if (reset) begin
      left <= {A{1'b0}};
      outstanding <= {O{1'b0}};
    end else begin
      if (start) left <= start_size;
      else if (read) left <= whole ? {left[A-1:P] - 1'b1, left[P-1:0]} : {A{1'b0}};
      if (read & ~answer) outstanding <= outstanding + 1'b1;
      else if (answer & ~read) outstanding <= outstanding - 1'b1;
    end
    if (start) address <= start_address;
    else if (read) address <= {address[A-1:P] + 1'b1, address[P-1:0]};
  end
endmodule
