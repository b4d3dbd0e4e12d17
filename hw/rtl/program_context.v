// The sequencer of one program context (GC3, section 4): runs the steps of its thread block in order,
// once for each pass (tile) over the chunks, and starts the requests of a step one after the other.
// The turn among contexts, memory and reduction are outside.
module program_context #(
    parameter S = 6,   // bits of a step's number
    parameter T = 16,  // bits of a pass's number
    parameter R = 16,  // bits of a step's requests
    parameter I = 4,   // bits of the requests in flight
    parameter A = 64   // bits of an address
) (
    input wire clk,
    input wire reset,
    input wire launch,
    input wire [T-1:0] passes,
    input wire turn,                    // the context may start a request in this cycle
    input wire decoded,                 // the instruction is there and its fields are read
    input wire last_step,               // from the instruction
    input wire ready,                   // the scoreboard has the step that this one waits for
    input wire [R-1:0] requests,        // of the step
    input wire [A-1:0] source_base,     // of the step, in this pass
    input wire [A-1:0] target_base,
    input wire [A-1:0] request_bytes,
    input wire may_start,               // a slot and its data are there
    input wire ended,                   // a request in flight
    output wire fetch,
    output reg [S-1:0] step,
    output reg [T-1:0] tile,
    output wire start,                  // a request
    output reg [A-1:0] source,
    output reg [A-1:0] target,
    output wire step_done,              // for the scoreboard
    output wire done
);
  localparam IDLE = 2'd0, FETCH = 2'd1, WAIT = 2'd2, MOVE = 2'd3;
  reg [1:0] phase;
  reg [R-1:0] left;       // requests that have not started
  reg [I-1:0] in_flight;

  assign fetch = phase == FETCH;
  assign done = phase == IDLE;
  assign start = (phase == MOVE) & (|left) & turn & may_start & ~(&in_flight);
  assign step_done = (phase == MOVE) & ~(|left) & ~(|in_flight);
  wire last_pass = tile + 1'b1 == passes;

  always @(posedge clk) begin
    if (reset) begin
      phase <= IDLE;
      in_flight <= {I{1'b0}};
    end else begin
      case (phase)
        IDLE: if (launch) phase <= FETCH;
        FETCH: if (decoded) phase <= WAIT;
        WAIT: if (ready & turn) phase <= MOVE;
        MOVE: if (step_done) phase <= last_step & last_pass ? IDLE : FETCH;
      endcase
      if (start & ~ended) in_flight <= in_flight + 1'b1;
      else if (ended & ~start) in_flight <= in_flight - 1'b1;
    end
    if (done) begin
      step <= {S{1'b0}};
      tile <= {T{1'b0}};
    end else if (step_done) begin
      step <= last_step ? {S{1'b0}} : step + 1'b1;
      if (last_step) tile <= tile + 1'b1;
    end
    if (phase == WAIT) begin
      left <= requests;
      source <= source_base;
      target <= target_base;
    end else if (start) begin
      left <= left - 1'b1;
      source <= source + request_bytes;
      target <= target + request_bytes;
    end
  end
endmodule
