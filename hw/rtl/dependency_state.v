// What the entries of a schedule table wait for (MultiTree, section IV-A): one place for each event,
// which is a message that arrives or a send of this NI that has left. Places are numbered in the
// order in which the table first waits for them, and a message names its place at the receiver, so an
// event is kept however early it comes. Entries issue in table order. So an entry is clear when the
// lowest place that is missing is not below `through`, the number of places that it and the entries
// before it wait for. Data that a root reads back are in memory some cycles after the event.
// It decides in every cycle what ni/engines/dependency_state.h says.
module dependency_state #(
    parameter N = 128,               // places, at least 2
    parameter I = 1,                 // entries in a cycle
    parameter T = 2,                 // longest turnaround, at least 1
    parameter E = 2 * I,             // events in a cycle: a port receives a message and sends one
    parameter G = N < 16 ? 2 : 16,   // places in a group: the search takes two levels
    parameter P = $clog2(N),         // bits of a place
    parameter C = $clog2(N + 1),     // bits of a number of places
    parameter D = $clog2(T + 1)      // bits of a turnaround
) (
    input wire clk,
    input wire reset,
    input wire [D-1:0] turnaround,   // cycles from an event to the first in which its data are read
    input wire [E-1:0] comes,        // an event of this cycle
    input wire [E-1:0] reads_back,   // its data are read back
    input wire [E*P-1:0] place,
    input wire [I*C-1:0] through,    // of the next entries; bit 0 of `clear` is the head entry's
    output reg [I-1:0] clear
);
  localparam GROUPS = (N + G - 1) / G;
  localparam K = $clog2(G);

  reg [N-1:0] came;
  // Events that wait for their write-back, by the cycles until they are set: stage 0 is the last.
  reg [T*E-1:0] delayed /* verilator public_flat_rd */;
  reg [T*E*P-1:0] delayed_place;

  wire [E-1:0] later = comes & reads_back & {E{|turnaround}};
  integer e, t;
  always @(posedge clk) begin
    for (e = 0; e < E; e = e + 1) begin
      if (comes[e] & ~later[e]) came[place[e*P +: P]] <= 1'b1;
      if (delayed[e]) came[delayed_place[e*P +: P]] <= 1'b1;
      for (t = 0; t < T; t = t + 1) begin
        if (later[e] & ({{(32-D){1'b0}}, turnaround} == t + 1)) begin
          delayed[t*E + e] <= 1'b1;
          delayed_place[(t*E + e)*P +: P] <= place[e*P +: P];
        end else if (t + 1 < T) begin
          delayed[t*E + e] <= delayed[(t+1)*E + e];
          delayed_place[(t*E + e)*P +: P] <= delayed_place[((t+1)*E + e)*P +: P];
        end else begin
          delayed[t*E + e] <= 1'b0;
        end
      end
    end
    if (reset) begin
      came <= {N{1'b0}};
      delayed <= {T*E{1'b0}};
    end
  end

  // The lowest place that is missing: first its group, then the place in the group.
  wire [GROUPS*G-1:0] padded = {{(GROUPS*G-N){1'b1}}, came};
  reg [G-1:0] group;
  reg [C-1:0] missing /* verilator public_flat_rd */;
  integer g, k, i;
  always @* begin
    group = {G{1'b1}};
    missing = N[C-1:0];
    for (g = GROUPS - 1; g >= 0; g = g - 1) begin
      if (~&padded[g*G +: G]) begin
        group = padded[g*G +: G];
        missing = {g[C-K-1:0], {K{1'b0}}};
      end
    end
    for (k = G - 1; k >= 0; k = k - 1) begin
      if (~group[k]) missing[K-1:0] = k[K-1:0];
    end
    for (i = 0; i < I; i = i + 1) clear[i] = through[i*C +: C] <= missing;
  end
endmodule
