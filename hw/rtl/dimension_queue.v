// The chunks that wait for a dimension, in order of arrival, and the choice of the next one (Themis,
// section 4.3): a compacting queue, and a tree of compare-and-select that finds the smallest key.
// A choice begins while a place in flight is free. It takes 1 + `more` cycles, and considers the
// chunks that have arrived by its first cycle, this cycle's arrivals included. One choice at a time.
// It decides in every cycle what ni/engines/dimension_arbiter.h says.
module dimension_queue #(
    parameter N = 64,     // chunks that can wait; at least 2
    parameter K = 32,     // bits of a key
    parameter I = 6,      // bits of a chunk's number
    parameter A = 4,      // bits of `more`
    parameter P = 1,      // chunks that can arrive in a cycle
    parameter FIFO = 0,   // 1: the oldest chunk is next, whatever its key
    parameter NEWEST = 1  // of equal keys the newest is next, or else the oldest
) (
    input wire clk,
    input wire reset,
    input wire [P-1:0] push,            // they arrive in order from bit 0; never more than N wait
    input wire [P*K-1:0] push_key,
    input wire [P*I-1:0] push_chunk,
    input wire open,                    // a place in flight is free
    input wire fixed,                   // only fixed_chunk may be next; held during a choice
    input wire [I-1:0] fixed_chunk,
    input wire [A-1:0] more,
    output wire found,                  // a chunk waits that may be chosen
    output wire begins,                 // a choice begins in this cycle
    output wire starts,                 // a choice ends in this cycle, and its chunk leaves
    output wire busy,                   // a choice began in an earlier cycle
    output reg [I-1:0] chunk,           // that leaves; before: that would be chosen
    output wire [$clog2(N+1)-1:0] depth // chunks that wait, without this cycle's arrivals
);
  localparam C = $clog2(N + 1);

  (* mem2reg *) reg [K-1:0] key[0:N-1];
  (* mem2reg *) reg [I-1:0] number[0:N-1];
  reg [C-1:0] count;
  reg [C-1:0] limit /* verilator public_flat_rd */;  // chunks that the choice considers
  reg [A-1:0] left /* verilator public_flat_rw */;  // cycles of the choice, with this one

  // With this cycle's arrivals.
  (* mem2reg *) reg [K-1:0] key_now[0:N-1];
  (* mem2reg *) reg [I-1:0] number_now[0:N-1];
  reg [C-1:0] count_now;
  integer n, p;
  always @* begin
    for (n = 0; n < N; n = n + 1) begin
      key_now[n] = key[n];
      number_now[n] = number[n];
    end
    count_now = count;
    for (p = 0; p < P; p = p + 1) begin
      if (push[p]) begin
        key_now[count_now[$clog2(N)-1:0]] = push_key[p*K +: K];
        number_now[count_now[$clog2(N)-1:0]] = push_chunk[p*I +: I];
        count_now = count_now + {{(C-1){1'b0}}, 1'b1};
      end
    end
  end

  assign busy = |left;
  wire [C-1:0] candidates = busy ? limit : count_now;
  reg [N-1:0] is_fixed;  // the place of fixed_chunk
  integer f;
  always @* begin
    for (f = 0; f < N; f = f + 1) begin
      is_fixed[f] = (f[C-1:0] < count_now) & (number_now[f] == fixed_chunk);
    end
  end
  assign found = fixed ? |is_fixed : |candidates;
  assign begins = found & open & ~busy;
  assign starts = busy ? ~|(left >> 1) : begins & ~|more;
  assign depth = count;

  wire [N-1:0] is_next;  // the place of the chunk that the order has next
  generate
    if (FIFO != 0) begin : in_order_of_arrival
      assign is_next = {{(N-1){1'b0}}, 1'b1};
    end else begin : smallest_first
      // Node n of the tree has the children 2n and 2n+1, the later arrivals; leaves are N to 2N-1,
      // from left to right from the power of two on.
      localparam W = 1 << $clog2(N);
      (* mem2reg *) reg [K-1:0] best[0:2*N-1];
      reg [2*N-1:0] none;    // no chunk in this part of the tree: none is its first place
      reg [2*N-1:0] winner;  // it has the smallest key
      reg [N-1:0] right;
      reg [N-1:0] place;
      integer e, t, d;
      always @* begin
        best[0] = {K{1'b0}};
        none[0] = 1'b1;
        right[0] = 1'b0;
        for (e = 0; e < N; e = e + 1) begin
          best[e + W < 2 * N ? e + W : e + W - N] = key_now[e];
          none[e + W < 2 * N ? e + W : e + W - N] = ~(e[C-1:0] < candidates);
        end
        for (t = N - 1; t > 0; t = t - 1) begin
          right[t] = ~none[2*t+1] & (NEWEST != 0 ? best[2*t+1] <= best[2*t]
                                                  : best[2*t+1] < best[2*t]);
          best[t] = right[t] ? best[2*t+1] : best[2*t];
          none[t] = none[2*t];
        end
        winner[1:0] = 2'b10;
        for (d = 1; d < N; d = d + 1) begin
          winner[2*d] = winner[d] & ~right[d];
          winner[2*d+1] = winner[d] & right[d];
        end
        for (e = 0; e < N; e = e + 1) begin
          place[e] = winner[e + W < 2 * N ? e + W : e + W - N];
        end
      end
      assign is_next = place;
    end
  endgenerate

  // The chunk's number, and the places from its own on, which take the chunk behind them.
  wire [N-1:0] chosen = fixed ? is_fixed : is_next;
  reg [N-1:0] moves;
  integer c, s;
  always @* begin
    chunk = {I{1'b0}};
    for (c = 0; c < N; c = c + 1) chunk = chunk | ({I{chosen[c]}} & number_now[c]);
    moves = chosen;
    for (s = 1; s < N; s = 2 * s) moves = moves | (moves << s);
    moves = moves & {N{starts}};
  end

  genvar q;
  generate
    for (q = 0; q < N; q = q + 1) begin : place
      if (q + 1 < N) begin : moves_up
        always @(posedge clk) begin
          key[q] <= moves[q] ? key_now[q+1] : key_now[q];
          number[q] <= moves[q] ? number_now[q+1] : number_now[q];
        end
      end else begin : newest
        always @(posedge clk) begin
          key[q] <= key_now[q];
          number[q] <= number_now[q];
        end
      end
    end
  endgenerate

  always @(posedge clk) begin
    if (reset) begin
      count <= {C{1'b0}};
      limit <= {C{1'b0}};
      left <= {A{1'b0}};
    end else begin
      count <= starts ? count_now - {{(C-1){1'b0}}, 1'b1} : count_now;
      if (begins) limit <= count_now;
      if (begins) left <= more;
      else if (busy) left <= left - {{(A-1){1'b0}}, 1'b1};
    end
  end
endmodule
