// Which units (tensor groups, or tensors) are ready for their collective: for each one bit of the
// NI's own and one for each child in a tree over all NIs. The lowest unit whose bits are all set goes
// up in a message, or starts the collective if this is the root, and its bits are cleared. A bit set
// in one cycle is picked in the next and shows in the one after. The decisions are those of
// NiHosts (sims/workload/coordination/event_driven_hosts.cpp).
module readiness_table #(
    parameter UNITS = 161,
    parameter CHILDREN = 8,
    parameter U = UNITS > 1 ? $clog2(UNITS) : 1,
    parameter S = $clog2(CHILDREN + 1)
) (
    input wire clk,
    input wire reset,
    input wire [CHILDREN-1:0] absent,  // children that this NI does not have
    input wire set_bit,                // a gradient is complete, or a child's message has come
    input wire [U-1:0] set_unit,
    input wire [S-1:0] set_source,     // 0: the NI itself; the children from 1
    input wire taken,                  // the unit that is found is on its way
    output reg found,
    output reg [U-1:0] unit
);
  // An absent child's bits are set with whichever other bit of their unit is.
  wire [CHILDREN:0] column;
  assign column[0] = set_source == 0;
  genvar c;
  generate
    for (c = 1; c <= CHILDREN; c = c + 1) begin : source
      assign column[c] = (set_source == c) | absent[c-1];
    end
  endgenerate

  wire [UNITS-1:0] complete;
  genvar u;
  generate
    for (u = 0; u < UNITS; u = u + 1) begin : row
      reg [CHILDREN:0] bits;
      wire sets = set_bit & (set_unit == u);
      wire clears = reset | (found & taken & (unit == u));
      // What comes while the unit goes up belongs to its next collective.
      always @(posedge clk)
        bits <= (clears ? {CHILDREN + 1{1'b0}} : bits) | (sets ? column : {CHILDREN + 1{1'b0}});
      assign complete[u] = &bits;
    end
  endgenerate

  // Node n of the tree has children 2n and 2n+1; leaves are P to 2P-1, and those beyond UNITS empty.
  localparam P = 1 << $clog2(UNITS);
  reg [2*P-1:0] any;
  reg [2*P*U-1:0] lowest;
  integer n;
  always @* begin
    any = {2 * P{1'b0}};
    any[P+:UNITS] = complete;
    lowest = {2 * P * U{1'b0}};
    for (n = 0; n < P; n = n + 1) lowest[(P+n)*U+:U] = n[U-1:0];
    for (n = P - 1; n > 0; n = n - 1) begin
      any[n] = any[2*n] | any[2*n+1];
      lowest[n*U+:U] = any[2*n] ? lowest[2*n*U+:U] : lowest[(2*n+1)*U+:U];
    end
  end

  // One at a time: a unit is complete until it is taken.
  always @(posedge clk) begin
    if (reset | taken) found <= 1'b0;
    else if (!found) found <= any[1];
    if (!found) unit <= lowest[U+:U];
  end
endmodule
