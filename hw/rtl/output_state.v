// The state of a router's outputs: which input VC holds an output, and who owns the VCs of the next
// channel. A packet keeps its output until its tail has left, or for one flit. It owns its VC until
// the tail of the packet has left, or of the message: a sub-packet's tail releases the output alone.
module output_state #(
    parameter P = 5,       // input ports, and outputs
    parameter V = 4,       // VCs of a port
    parameter SHARED = 1,  // 1: the VCs of a port share a crossbar input; 0: each VC has one
    parameter O = P > 1 ? $clog2(P) : 1,
    parameter W = V > 1 ? $clog2(V) : 1,
    parameter S = SHARED != 0 ? 1 : V,     // crossbar inputs of a port
    parameter X = P * S
) (
    input wire clk,
    input wire reset,
    input wire hold_flit,              // the switch is allocated anew for every flit
    input wire [P-1:0] rotates,        // by output: a packet looks for a VC after the last one's
    // By input VC, port by port: the packet at its front.
    input wire [P*V-1:0] request,      // its next flit is there, and may leave for good
    input wire [P*V-1:0] starts,       // this flit is its first one
    input wire [P*V*O-1:0] wants,      // the output that it leaves by
    input wire [P*V*V-1:0] permitted,  // VCs of the next channel that its route permits
    input wire [P*V*V-1:0] credits,    // VCs of the next channel with credits for what is to leave
    input wire [P-1:0] wire_free,      // by output
    output reg [P*V-1:0] can,          // it could go in this cycle
    // Of the switch allocator.
    input wire [P*V-1:0] picked,
    input wire [P*X-1:0] granted,
    // By output: the packet that holds it, from the cycle of its grant on.
    output reg [P-1:0] holds,
    output reg [P*O-1:0] port,
    output reg [P*W-1:0] vc,
    output reg [P*W-1:0] out_vc,
    // By output: the flit that leaves in this cycle.
    input wire [P-1:0] leaves,
    input wire [P-1:0] tail,           // of its packet or sub-packet
    input wire [P-1:0] frees_vc        // no more flits of its message come on the VC
);
  reg [P-1:0] held /* verilator public_flat_rd */;
  reg [P*O-1:0] held_port;
  reg [P*W-1:0] held_vc;
  reg [P*W-1:0] held_out_vc;
  reg [P*V-1:0] owned /* verilator public_flat_rd */;  // by output and VC
  // By output: the VCs after the last packet's.
  reg [P*V-1:0] order /* verilator public_flat_rd */;
  // By input VC: its message has a VC downstream.
  reg [P*V-1:0] owns /* verilator public_flat_rd */;
  reg [P*V*W-1:0] own_vc /* verilator public_flat_rd */;

  function [V-1:0] first_vc(input [V-1:0] requests, input [V-1:0] from);
    reg [V-1:0] left;
    begin
      left = |(requests & from) ? requests & from : requests;
      first_vc = left & -left;
    end
  endfunction

  // A packet could go if its output and its crossbar input are free, and a VC is.
  reg [P-1:0] busy;  // by port
  reg [P*V*V-1:0] fits;
  reg [P-1:0] open;
  reg [V-1:0] own;
  integer o, p, i, j;
  always @* begin
    busy = {P{1'b0}};
    for (o = 0; o < P; o = o + 1)
      if (held[o])
        for (p = 0; p < P; p = p + 1) if (held_port[o*O+:O] == p[O-1:0]) busy[p] = 1'b1;
  end
  always @* begin
    open = wire_free & ~held;
    can = {P * V{1'b0}};
    fits = {P * V * V{1'b0}};
    own = {V{1'b0}};
    for (i = 0; i < P * V; i = i + 1)
      if (request[i]) begin
        for (j = 0; j < V; j = j + 1) own[j] = own_vc[i*W+:W] == j[W-1:0];
        fits[i*V+:V] = credits[i*V+:V] &
            (owns[i] ? own : permitted[i*V+:V] & ~owned[wants[i*O+:O]*V+:V]);
        can[i] = |fits[i*V+:V] & open[wants[i*O+:O]] & ~(SHARED != 0 && busy[i/V]);
      end
  end

  // What a crossbar input offers: the packet that its port has picked.
  reg [X*V-1:0] offer;
  reg [X*W-1:0] offer_vc;
  reg [X-1:0] offer_starts;
  integer e, f;
  always @* begin
    offer = {X * V{1'b0}};
    offer_vc = {X * W{1'b0}};
    offer_starts = {X{1'b0}};
    for (e = 0; e < P; e = e + 1)
      for (f = 0; f < V; f = f + 1)
        if (picked[e*V+f]) begin
          offer[(e*S+f%S)*V+:V] =
              offer[(e*S+f%S)*V+:V] | fits[(e*V+f)*V+:V];
          offer_vc[(e*S+f%S)*W+:W] =
              offer_vc[(e*S+f%S)*W+:W] | f[W-1:0];
          offer_starts[e*S+f%S] =
              offer_starts[e*S+f%S] | starts[e*V+f];
        end
  end

  // The packet that holds an output, and what it takes with the grant.
  reg [P*V-1:0] taken;  // by output and VC
  reg [P-1:0] first_flit;
  reg [V-1:0] choices;
  reg [X-1:0] wins;      // by crossbar input
  reg [X*W-1:0] win_vc;  // the VC that its packet takes
  integer g, q, s, c;
  always @* begin
    holds = held;
    port = held_port;
    vc = held_vc;
    out_vc = held_out_vc;
    taken = {P * V{1'b0}};
    first_flit = {P{1'b0}};
    choices = {V{1'b0}};
    wins = {X{1'b0}};
    win_vc = {X * W{1'b0}};
    for (g = 0; g < P; g = g + 1)
      if (|granted[g*X+:X]) begin
        holds[g] = 1'b1;
        port[g*O+:O] = {O{1'b0}};
        vc[g*W+:W] = {W{1'b0}};
        out_vc[g*W+:W] = {W{1'b0}};
        choices = {V{1'b0}};
        for (q = 0; q < P; q = q + 1)
          for (s = 0; s < S; s = s + 1)
            if (granted[g*X+q*S+s]) begin
              port[g*O+:O] = port[g*O+:O] | q[O-1:0];
              vc[g*W+:W] = vc[g*W+:W] | offer_vc[(q*S+s)*W+:W];
              choices = choices | offer[(q*S+s)*V+:V];
              first_flit[g] = first_flit[g] | offer_starts[q*S+s];
            end
        taken[g*V+:V] = first_vc(choices, order[g*V+:V]);
        for (c = 0; c < V; c = c + 1)
          if (taken[g*V+c]) out_vc[g*W+:W] = out_vc[g*W+:W] | c[W-1:0];
        for (q = 0; q < X; q = q + 1)
          if (granted[g*X+q]) begin
            wins[q] = 1'b1;
            win_vc[q*W+:W] = win_vc[q*W+:W] | out_vc[g*W+:W];
          end
      end
  end

  // What the leaving flits release.
  wire [P-1:0] frees = leaves & frees_vc;
  reg [P*V-1:0] freed;        // by output and VC
  reg [P*V-1:0] owner_frees;  // by input VC
  reg [P*V-1:0] next_owns;
  reg [P*V*W-1:0] next_own_vc;
  integer k, l, m, n;
  always @* begin
    freed = {P * V{1'b0}};
    owner_frees = {P * V{1'b0}};
    for (k = 0; k < P; k = k + 1)
      if (frees[k]) begin
        for (n = 0; n < V; n = n + 1) if (out_vc[k*W+:W] == n[W-1:0]) freed[k*V+n] = 1'b1;
        for (l = 0; l < P; l = l + 1)
          if (port[k*O+:O] == l[O-1:0])
            for (m = 0; m < V; m = m + 1)
              if (vc[k*W+:W] == m[W-1:0]) owner_frees[l*V+m] = 1'b1;
      end
  end
  integer t, u;
  always @* begin
    next_owns = owns & ~owner_frees;
    next_own_vc = own_vc;
    for (t = 0; t < P; t = t + 1)
      for (u = 0; u < V; u = u + 1)
        if (picked[t*V+u] & wins[t*S+u%S]) begin
          next_owns[t*V+u] = ~owner_frees[t*V+u];
          next_own_vc[(t*V+u)*W+:W] = win_vc[(t*S+u%S)*W+:W];
        end
  end

  integer r;
  always @(posedge clk) begin
    held_port <= port;
    held_vc <= vc;
    held_out_vc <= out_vc;
    own_vc <= next_own_vc;
    if (reset) begin
      held <= {P{1'b0}};
      owned <= {P * V{1'b0}};
      order <= {P * V{1'b0}};
      owns <= {P * V{1'b0}};
    end else begin
      held <= holds & ~(leaves & (tail | {P{hold_flit}}));
      owned <= (owned | taken) & ~freed;
      owns <= next_owns;
      for (r = 0; r < P; r = r + 1)
        if (first_flit[r] & rotates[r]) order[r*V+:V] <= -taken[r*V+:V] & ~taken[r*V+:V];
    end
  end
endmodule
