module nand2(input a, input b, output y); assign y = ~(a & b); endmodule
module flip_flop(input c, input d, output reg q); always @(posedge c) q <= d; endmodule
