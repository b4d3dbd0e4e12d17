// The sum of two floating-point numbers of E exponent and M fraction bits, rounded to nearest, ties
// to even (IEEE 754). Subnormal numbers are taken as zero and rounded to zero, as accelerators do.
// One lane of an NI's reduction unit; its pipeline registers are not part of it.
module fp_adder #(
    parameter E = 8,
    parameter M = 23,
    parameter C = $clog2(M + 6)
) (
    input wire [E+M:0] a,
    input wire [E+M:0] b,
    output wire [E+M:0] sum
);
  // x has the larger magnitude.
  wire swap = a[E+M-1:0] < b[E+M-1:0];
  wire [E+M:0] x = swap ? b : a;
  wire [E+M:0] y = swap ? a : b;
  wire [E-1:0] x_exponent = x[E+M-1:M];
  wire [E-1:0] y_exponent = y[E+M-1:M];

  // Three more bits: guard, round, and sticky, which stands for all bits that are shifted out.
  wire [M+3:0] greater = {1'b1, x[M-1:0], 3'b0} & {(M+4){|x_exponent}};
  wire [M+3:0] unshifted = {1'b1, y[M-1:0], 3'b0} & {(M+4){|y_exponent}};
  wire [E-1:0] distance = x_exponent - y_exponent;
  wire [2*M+7:0] shifted = {unshifted, {(M+4){1'b0}}} >> distance;
  wire out = |shifted[M+3:0] | ((|unshifted) & (distance > M + 4));
  wire [M+3:0] lesser = {shifted[2*M+7:M+5], shifted[M+4] | out};

  wire subtract = x[E+M] ^ y[E+M];
  wire [M+4:0] total = subtract ? {1'b0, greater} - {1'b0, lesser} : {1'b0, greater} + {1'b0, lesser};

  // Leading zeros.
  reg [C-1:0] zeros;
  reg [C-1:0] place;  // of a bit, counted from the highest
  integer n;
  always @* begin
    zeros = {C{1'b0}};
    place = {C{1'b0}};
    for (n = M + 4; n > 0; n = n - 1) begin
      if (~(|(total >> n))) zeros = place + {{(C-1){1'b0}}, 1'b1};
      place = place + {{(C-1){1'b0}}, 1'b1};
    end
  end
  wire [M+4:0] normal = total << zeros;
  wire up = normal[3] & (|normal[2:0] | normal[4]);
  wire [M+1:0] rounded = {1'b0, normal[M+4:4]} + {{(M+1){1'b0}}, up};
  wire [E+1:0] exponent = {2'b0, x_exponent} + {{(E+1){1'b0}}, 1'b1} - {{(E+2-C){1'b0}}, zeros} +
                          {{(E+1){1'b0}}, rounded[M+1]};

  wire vanishes = ~(|total) | exponent[E+1] | ~(|exponent);
  wire overflows = ~exponent[E+1] & (exponent[E] | (&exponent[E-1:0]));
  wire x_special = &x_exponent;  // infinity, or not a number
  wire invalid = x_special & ((|x[M-1:0]) | (subtract & (&y_exponent)));
  wire [M-1:0] fraction = rounded[M+1] ? rounded[M:1] : rounded[M-1:0];
  assign sum = invalid ? {1'b0, {E{1'b1}}, 1'b1, {(M-1){1'b0}}} :
               x_special ? x :
               ~(|x_exponent) ? {a[E+M] & b[E+M], {(E+M){1'b0}}} :
               vanishes ? {x[E+M] & |total, {(E+M){1'b0}}} :
               overflows ? {x[E+M], {E{1'b1}}, {M{1'b0}}} :
               {x[E+M], exponent[E-1:0], fraction};
endmodule
