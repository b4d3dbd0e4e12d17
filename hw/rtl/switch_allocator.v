// Separable switch allocation, input first, one iteration: each input port picks one of its VCs
// whose packet could go, and each output picks one crossbar input. Round-robin order moves behind
// the winner, in both stages, and only if the output grants. It grants what
// router/switch_allocator.h grants.
module switch_allocator #(
    parameter P = 5,       // input ports, and outputs
    parameter V = 4,       // VCs of a port
    parameter SHARED = 1,  // 1: the VCs of a port share a crossbar input; 0: each VC has one
    parameter O = P > 1 ? $clog2(P) : 1,
    parameter S = SHARED != 0 ? 1 : V,     // crossbar inputs of a port
    parameter X = P * S
) (
    input wire clk,
    input wire reset,
    // By input VC, port by port.
    input wire [P*V-1:0] can,       // its packet could go in this cycle
    input wire [P*V*O-1:0] wants,   // the output that the packet leaves by
    output reg [P*V-1:0] picked,    // by the input stage
    // By output, and crossbar input of the output; at most one for each.
    output reg [P*X-1:0] granted
);
  // Bits of the requesters after the last winner. Without one of them, the lowest goes.
  reg [P*X-1:0] output_order /* verilator public_flat_rd */;
  integer o, p, v;

  function [V-1:0] first_vc(input [V-1:0] requests, input [V-1:0] order);
    reg [V-1:0] left;
    begin
      left = |(requests & order) ? requests & order : requests;
      first_vc = left & -left;
    end
  endfunction
  function [X-1:0] first_input(input [X-1:0] requests, input [X-1:0] order);
    reg [X-1:0] left;
    begin
      left = |(requests & order) ? requests & order : requests;
      first_input = left & -left;
    end
  endfunction

  generate
    if (SHARED != 0) begin : input_stage
      reg [P*V-1:0] order /* verilator public_flat_rd */;
      reg [P-1:0] wins;  // by port
      integer i, j;
      always @* begin
        for (i = 0; i < P; i = i + 1) begin
          picked[i*V+:V] = first_vc(can[i*V+:V], order[i*V+:V]);
        end
      end
      always @* begin
        wins = {P{1'b0}};
        for (j = 0; j < P; j = j + 1) wins = wins | granted[j*X+:X];
      end
      always @(posedge clk) begin
        if (reset) order <= {P * V{1'b0}};
        else
          for (i = 0; i < P; i = i + 1)
            if (wins[i]) order[i*V+:V] <= -picked[i*V+:V] & ~picked[i*V+:V];
      end
    end else begin : input_stage
      always @* picked = can;
    end
  endgenerate

  reg [P*X-1:0] asks;
  always @* begin
    asks = {P * X{1'b0}};
    for (p = 0; p < P; p = p + 1)
      for (v = 0; v < V; v = v + 1)
        if (picked[p*V+v])
          for (o = 0; o < P; o = o + 1)
            if (wants[(p*V+v)*O+:O] == o[O-1:0])
              asks[o*X+p*S+v%S] = 1'b1;
  end

  integer a, b;
  always @* begin
    for (a = 0; a < P; a = a + 1) granted[a*X+:X] = first_input(asks[a*X+:X], output_order[a*X+:X]);
  end
  always @(posedge clk) begin
    if (reset) output_order <= {P * X{1'b0}};
    else
      for (b = 0; b < P; b = b + 1)
        if (|granted[b*X+:X]) output_order[b*X+:X] <= -granted[b*X+:X] & ~granted[b*X+:X];
  end
endmodule
