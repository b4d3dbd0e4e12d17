// The smallest of N keys with valid bits, and its index: a tree of compare-and-select (Themis's
// smallest chunk first, section 4.3). Entries stand in order of arrival; of equal keys the one that
// arrived last wins, or the first. N: a power of two. The decision is that of StageQueue::pop in
// alg/stage_arbiter.*.
module scf_finder #(
    parameter N = 16,
    parameter K = 32,
    parameter NEWEST = 1,  // ties: newest, or oldest
    parameter I = $clog2(N)
) (
    input wire [N-1:0] valid,
    input wire [N*K-1:0] keys,
    output wire found,
    output wire [I-1:0] index
);
  // Node n of the tree has children 2n and 2n+1; leaves are N to 2N-1.
  wire [K-1:0] key_of[1:2*N-1];
  wire [I-1:0] index_of[1:2*N-1];
  wire valid_of[1:2*N-1];
  genvar n;
  generate
    for (n = 0; n < N; n = n + 1) begin : leaf
      assign key_of[N+n] = keys[n*K+:K];
      assign index_of[N+n] = n;
      assign valid_of[N+n] = valid[n];
    end
    for (n = 1; n < N; n = n + 1) begin : node
      // A place without a chunk loses against any key.
      wire [K:0] left_key = {~valid_of[2*n], key_of[2*n]};
      wire [K:0] right_key = {~valid_of[2*n+1], key_of[2*n+1]};
      wire right = NEWEST ? right_key <= left_key : right_key < left_key;
      assign key_of[n] = right ? key_of[2*n+1] : key_of[2*n];
      assign index_of[n] = right ? index_of[2*n+1] : index_of[2*n];
      assign valid_of[n] = valid_of[2*n] | valid_of[2*n+1];
    end
  endgenerate
  assign found = valid_of[1];
  assign index = index_of[1];
endmodule
