// A network interface for RING's all-reduce. Message number s leaves when s messages have arrived: the first one at once, each
// other one when the chunk that it carries on is here. Streams are AXI4-Stream; a message is a packet that ends with tlast.
module ring_ni #(
    parameter ROWS_LOG2 = 6  // the table has 2^ROWS_LOG2 rows
) (
    input wire clk,
    // The schedule table: one row in each cycle in which table_write is true, in the order in which the messages leave.
    input wire table_write,
    input wire [15:0] table_flow,
    input wire [15:0] table_destination,
    input wire table_is_reduce,
    input wire [31:0] table_beats,
    input wire start,  // the table is complete
    // To the network.
    output wire tx_tvalid,
    input wire tx_tready,
    output wire tx_tlast,
    output wire [31:0] tx_tid,
    output wire [31:0] tx_tdest,
    output wire [31:0] tx_tuser,
    // From the network.
    input wire rx_tvalid,
    output wire rx_tready,
    input wire rx_tlast,
    output reg [31:0] messages_received
);
  localparam ROWS = 1 << ROWS_LOG2;
  reg [15:0] flow[0:ROWS-1];
  reg [15:0] destination[0:ROWS-1];
  reg is_reduce[0:ROWS-1];
  reg [31:0] beats[0:ROWS-1];

  reg [ROWS_LOG2:0] rows = 0;  // in the table
  reg [ROWS_LOG2:0] row = 0;   // whose message leaves now, or next
  reg [31:0] beat = 0;         // of that message

  initial messages_received = 0;

  wire [ROWS_LOG2-1:0] at = row[ROWS_LOG2-1:0];
  wire is_here = messages_received >= {{(31 - ROWS_LOG2) {1'b0}}, row};
  assign tx_tvalid = start && row != rows && is_here;
  assign tx_tlast = beat + 1 == beats[at];
  assign tx_tid = {16'b0, flow[at]};
  assign tx_tdest = {16'b0, destination[at]};
  assign tx_tuser = {31'b0, is_reduce[at]};
  assign rx_tready = 1'b1;

  always @(posedge clk) begin
    if (table_write) begin
      flow[rows[ROWS_LOG2-1:0]] <= table_flow;
      destination[rows[ROWS_LOG2-1:0]] <= table_destination;
      is_reduce[rows[ROWS_LOG2-1:0]] <= table_is_reduce;
      beats[rows[ROWS_LOG2-1:0]] <= table_beats;
      rows <= rows + 1'b1;
    end
    if (rx_tvalid && rx_tready && rx_tlast) messages_received <= messages_received + 1;
    if (tx_tvalid && tx_tready) begin
      beat <= tx_tlast ? 0 : beat + 1;
      if (tx_tlast) row <= row + 1'b1;
    end
  end
endmodule
