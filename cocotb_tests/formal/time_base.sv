// SPDX-License-Identifier: BSD-2-Clause-Patent
// TimeBase: its time is the sum of all additions that were requested. By induction: for ever, from reset on.

module time_base (
    input logic clk,
    input logic [39:0] increment,
    input logic signed [31:0] correction,
    input logic jump_valid,
    input logic jump_relative,
    input logic [79:0] jump_value
);
  logic [79:0] now;
  logic [63:0] stamp;
  logic [39:0] step;
  logic reset = 1'b1;
  always_ff @(posedge clk) reset <= 1'b0;

  TimeBase dut (
      .clk, .reset, .increment, .correction, .jump_valid, .step,
      .jump_payload_relative(jump_relative), .jump_payload_value(jump_value),
      .time_1(now), .stamp_ns(stamp[63:16]), .stamp_fraction(stamp[15:0])
  );

  // The obligations of a host in docs/reference/time.md.
  always_comb assume (increment >> 32 != 0 && increment >> 32 != 255);
  logic [2:0] jumped = 3'b0;  // one, two, three clocks ago
  always_ff @(posedge clk) jumped <= {jumped[1:0], jump_valid && !reset};
  always_comb assume (!(jump_valid && jumped[1:0] != 0));

  // A change requested in this clock takes effect three clocks later. The sum has bits enough never to wrap in a lifetime.
  localparam logic signed [127:0] nominal = 128'sd8 <<< 32;
  logic signed [127:0] requested, soon, next, total;
  logic sets, sets_soon, sets_next;
  logic [79:0] value_soon, value_next;
  always_comb begin
    sets  = jump_valid && !jump_relative;
    requested = $signed({88'b0, increment}) + (jump_valid && jump_relative ? 128'($signed(jump_value)) : 128'(correction));
  end
  always_ff @(posedge clk) begin
    if (reset) begin
      soon <= nominal;
      next <= nominal;
      total <= 0;
      {sets_soon, sets_next} <= 2'b0;
    end else begin
      soon <= requested;
      next <= soon;
      {sets_soon, sets_next} <= {sets, sets_soon};
      {value_soon, value_next} <= {jump_value, value_soon};
      total <= sets_next ? $signed({48'b0, value_next}) : total + next;
    end
  end

  logic [79:0] now_before;
  logic [39:0] step_before;
  logic steady, steady_before;  // no jump has an effect in this clock
  always_comb steady = jumped[2:0] == 0;
  always_ff @(posedge clk) begin
    now_before <= now;
    step_before <= step;
    steady_before <= steady && !reset;
  end

  always_comb
    if (!reset) begin
      // P: the time is its start and all increments, corrections and steps since, exactly, modulo 2^80
      sum : assert (now == total[79:0]);
      // P: a stamp is the time without what is below 2^-16 ns: never later than it, and less than 2^-16 ns earlier
      floor : assert ({stamp, 16'b0} <= now && now - {stamp, 16'b0} < 80'h10000);
      if (steady && steady_before) begin
        // P: without a jump the time goes on by half a nanosecond or more in each clock
        monotone : assert (now - now_before >= 80'h80000000 && now - now_before < 80'h10000000000);
        // P: what `step` says is what the time does
        steps : assert (now - now_before == {40'b0, step_before});
      end
    end
endmodule
