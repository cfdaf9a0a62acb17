// SPDX-License-Identifier: BSD-2-Clause-Patent
// PacerSchedule: each limb of 18 bits of the spacing times the length, exactly. That the length times the whole is the sum of these is the
// distributive law: test_formal.py asks a solver of numbers, one of bits would not end with it.
//
// Its pipeline remembers nothing but the grants given. So one booking, nine clocks after any state at all and among any others, is every booking.

module pacer_products (
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

  (* anyconst *) logic [55:0] spacing;
  (* anyconst *) logic [13:0] length;
  logic [3:0] clocks = 0;
  always_ff @(posedge clk) clocks <= clocks + 1;
  always_comb if (clocks == 1) assume (bookings_valid && bookings_per_byte && bookings_interval == spacing && bookings_length == length);

  (* hierconn *) logic [31:0] \dut.sum_booked_products_0 , \dut.sum_booked_products_1 , \dut.sum_booked_products_2 ;  // Yosys joins them with the registers
  (* hierconn *) logic [15:0] \dut.sum_booked_products_3 ;
  localparam logic [31:0] limit = 32'h3ffff * 32'h3fff;
  always_comb
    if (clocks == 3) begin
      // P: two clocks after a booking each limb of its spacing has been multiplied by its length
      limbs : assert (\dut.sum_booked_products_0 == 32'(spacing[17:0]) * 32'(length)
                      && \dut.sum_booked_products_1 == 32'(spacing[35:18]) * 32'(length)
                      && \dut.sum_booked_products_2 == 32'(spacing[53:36]) * 32'(length)
                      && \dut.sum_booked_products_3 == 16'(spacing[55:54]) * 16'(length));
      // P: none of the products is larger than the largest limb times the largest length
      bounds : assert (\dut.sum_booked_products_0 <= limit && \dut.sum_booked_products_1 <= limit
                       && \dut.sum_booked_products_2 <= limit && \dut.sum_booked_products_3 <= 16'h3 * 16'h3fff);
    end
endmodule
