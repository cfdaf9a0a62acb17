// SPDX-License-Identifier: BSD-2-Clause-Patent
// Slew: a correction in exactly as many clocks as were requested, and in no other.

module slew (
    input logic clk,
    input logic slew_valid,
    input logic signed [31:0] per_clock,
    input logic [31:0] clocks,
    input logic cancel
);
  logic signed [31:0] correction;
  logic active;

  logic reset = 1'b1;
  always_ff @(posedge clk) reset <= 1'b0;

  Slew dut (
      .clk, .reset, .slew_valid, .cancel, .correction, .active,
      .slew_payload_perClock(per_clock), .slew_payload_clocks(clocks)
  );


  // Clocks of the last slew that are still to come, and the clocks that it requested.
  logic [31:0] left = 0;
  logic signed [31:0] requested;
  always_ff @(posedge clk) begin
    if (reset || cancel) left <= 0;
    else if (slew_valid) left <= clocks;
    else if (left != 0) left <= left - 1;
    if (slew_valid) requested <= per_clock;
  end

  always_comb
    if (!reset) begin
      // P: a slew is under way in exactly as many clocks as it says, or until the next one or its end
      count : assert (active == (left != 0));
      // P: each of its clocks has its correction, and no other clock has one
      amount : assert (correction == (left != 0 ? requested : 0));
    end

  // Shadow and design agree on the clocks that are left: without it the induction would begin in states that never are.
  (* hierconn *) logic [32:0] \dut.left ;  // Yosys joins it with the register of that name
  always_comb
    if (!reset)
      // P: the design counts as the shadow does (for the induction)
      shadow : assert (\dut.left == {1'b0, left} - 33'd1);
endmodule
