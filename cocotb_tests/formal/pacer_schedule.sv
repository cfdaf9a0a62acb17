// SPDX-License-Identifier: BSD-2-Clause-Patent
// PacerSchedule: grant = grant before + interval, exactly, or (2^burst - 1) intervals ago if that is later; the interval is as booked, or length *
// spacing, here from the products of the spacing's limbs on.
//
// Its pipeline remembers nothing but the grants given. So one booking, nine clocks after any state at all and among any others, is every booking.

module pacer_schedule (
    input logic clk,
    input logic bookings_valid,
    input logic [3:0] bookings_flow,
    input logic bookings_first,
    input logic bookings_paced,
    input logic bookings_per_byte,
    input logic [1:0] bookings_burst,
    input logic [55:0] bookings_interval,
    input logic [13:0] bookings_length,
    input logic [95:0] now,
    input logic granted_valid,
    input logic [3:0] granted_flow,
    input logic [95:0] granted_time
);
  logic paced_valid, armed;
  logic [3:0] paced_flow;
  logic [95:0] paced_time;

  PacerSchedule dut (
      .clk, .reset(1'b0), .bookings_valid,
      .bookings_payload_reference_flow(bookings_flow), .bookings_payload_reference_generation(8'b0),
      .bookings_payload_first(bookings_first), .bookings_payload_paced(bookings_paced), .bookings_payload_interval(bookings_interval),
      .bookings_payload_perByte(bookings_per_byte), .bookings_payload_previousLength(bookings_length),
      .bookings_payload_adjacent(1'b0), .bookings_payload_burst(bookings_burst),
      .now_fraction(now[31:0]), .now_ns(now[79:32]), .now_epoch(now[95:80]),
      .granted_valid, .granted_payload_flow(granted_flow),
      .granted_payload_time_fraction(granted_time[31:0]), .granted_payload_time_ns(granted_time[79:32]),
      .granted_payload_time_epoch(granted_time[95:80]),
      .paced_valid, .paced_payload_flow(paced_flow), .paced_payload_entry_armed(armed),
      .paced_payload_entry_at_ns(paced_time[79:32]), .paced_payload_entry_content_fraction(paced_time[31:0]),
      .paced_payload_entry_content_epoch(paced_time[95:80])
  );

  // A grant of some flow in clock 0, its next booking in clock 1; what other flows do is free.
  (* anyconst *) logic [3:0] flow;
  (* anyconst *) logic first;
  (* anyconst *) logic paced, per_byte;
  (* anyconst *) logic [1:0] burst;
  (* anyconst *) logic [55:0] interval;
  (* anyconst *) logic [13:0] length;
  (* anyconst *) logic [95:0] before;
  logic [3:0] clocks = 0;
  always_ff @(posedge clk) clocks <= clocks + 1;
  always_comb begin
    if (clocks == 0) assume (granted_valid && granted_flow == flow && granted_time == before);
    else assume (!(granted_valid && granted_flow == flow));
    if (clocks == 1) begin
      assume (bookings_valid && bookings_flow == flow && bookings_first == first);
      assume (bookings_paced == paced && bookings_per_byte == per_byte && bookings_burst == burst);
      assume (bookings_interval == interval && bookings_length == length);
    end
  end

  // Plain arithmetic of 96 bits. The four products may be any as large as products are; both is pacer_products.sv's to prove.
  (* hierconn *) logic [31:0] \dut.sum_booked_products_0 , \dut.sum_booked_products_1 , \dut.sum_booked_products_2 ;  // Yosys joins them with the registers
  (* hierconn *) logic [15:0] \dut.sum_booked_products_3 ;
  localparam logic [31:0] limit = 32'h3ffff * 32'h3fff;
  always_comb
    if (clocks == 3) begin
      assume (\dut.sum_booked_products_0 <= limit && \dut.sum_booked_products_1 <= limit);
      assume (\dut.sum_booked_products_2 <= limit && \dut.sum_booked_products_3 <= 16'h3 * 16'h3fff);
      // The factor is zero where the interval counts as it is.
      if (!per_byte) assume ((\dut.sum_booked_products_0 | \dut.sum_booked_products_1 | \dut.sum_booked_products_2 ) == 0 && \dut.sum_booked_products_3 == 0);
    end
  logic [95:0] low, high, product, sum, ahead, earliest, now_then;
  always_ff @(posedge clk) begin
    if (clocks == 7) now_then <= now;
    if (clocks == 3) begin
      low <= 96'(\dut.sum_booked_products_0 ) + (96'(\dut.sum_booked_products_1 ) << 18);
      high <= 96'(\dut.sum_booked_products_2 ) + (96'(\dut.sum_booked_products_3 ) << 18);
    end
  end
  always_comb begin
    product = per_byte ? low + (high << 36) : 96'(interval) << 16;
    sum = before + product;
    earliest = now_then - ((product << burst) - product);
    ahead = sum - earliest;
    // Two instants are less than a quarter of all time apart (146 years).
    if (clocks == 10) assume (ahead[95] == ahead[94]);
  end

  always_comb
    if (clocks == 10) begin
      // P: a booking's entry comes nine clocks after it
      arrives : assert (paced_valid && paced_flow == flow && armed == paced);
      // P: a connection's first grant is now
      starts : assert (!first || paced_time == now_then);
      // P: another is its flow's last one and the interval, to the last of 32 fraction bits, or what a full bucket allows if that is later
      exact : assert (first || paced_time == (ahead[95] ? earliest : sum));
    end
endmodule
