// The output hold of a router (MultiTree, section V): which packet gets which output and which VC of
// the next channel, and how long it keeps them. With messages as packets, a sub-packet's tail
// releases the output, and the VC stays with the message until its last flit.
// It decides what router/output_hold.h says. Signals: output_state.v, switch_allocator.v.
module output_hold #(
    parameter P = 5,       // input ports, and outputs
    parameter V = 4,       // VCs of a port
    parameter SHARED = 1,  // 1: the VCs of a port share a crossbar input; 0: each VC has one
    parameter O = P > 1 ? $clog2(P) : 1,
    parameter W = V > 1 ? $clog2(V) : 1
) (
    input wire clk,
    input wire reset,
    input wire hold_flit,
    input wire [P-1:0] rotates,
    input wire [P*V-1:0] request,
    input wire [P*V-1:0] starts,
    input wire [P*V*O-1:0] wants,
    input wire [P*V*V-1:0] permitted,
    input wire [P*V*V-1:0] credits,
    input wire [P-1:0] wire_free,
    output wire [P-1:0] grant,     // by output
    output wire [P-1:0] holds,
    output wire [P*O-1:0] port,
    output wire [P*W-1:0] vc,
    output wire [P*W-1:0] out_vc,
    input wire [P-1:0] leaves,
    input wire [P-1:0] tail,
    input wire [P-1:0] frees_vc
);
  localparam X = P * (SHARED != 0 ? 1 : V);
  wire [P*V-1:0] can;
  wire [P*V-1:0] picked;
  wire [P*X-1:0] granted;

  output_state #(.P(P), .V(V), .SHARED(SHARED)) state (
      .clk(clk), .reset(reset), .hold_flit(hold_flit), .rotates(rotates), .request(request),
      .starts(starts), .wants(wants), .permitted(permitted), .credits(credits),
      .wire_free(wire_free), .can(can), .picked(picked), .granted(granted), .holds(holds),
      .port(port), .vc(vc), .out_vc(out_vc), .leaves(leaves), .tail(tail), .frees_vc(frees_vc)
  );
  switch_allocator #(.P(P), .V(V), .SHARED(SHARED)) allocator (
      .clk(clk), .reset(reset), .can(can), .wants(wants), .picked(picked), .granted(granted)
  );

  genvar o;
  generate
    for (o = 0; o < P; o = o + 1) begin : output_port
      assign grant[o] = |granted[o*X+:X];
    end
  endgenerate
endmodule
