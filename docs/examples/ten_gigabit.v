// SPDX-License-Identifier: BSD-2-Clause-Patent
// Between Downbeat's wire ports (`clk`) and a 10G MAC with 64-bit streams in its own two clocks, frames without FCS.
// The MAC needs no launch gate and no stamps: frames wait here for their launch time. What that loses:
// docs/how-to/connect.md. Vivado: bound the delay of *_gray to *_gray_1 by a clock of the faster side.
module ten_gigabit (
  input  wire        clk, reset,
  input  wire [63:0] now,
  // Downbeat's ports of these names.
  output wire [63:0] s_axis_wire_rx_tdata, output wire [7:0] s_axis_wire_rx_tkeep, output wire [64:0] s_axis_wire_rx_tuser,
  output wire        s_axis_wire_rx_tvalid, s_axis_wire_rx_tlast, input wire s_axis_wire_rx_tready,
  input  wire [63:0] m_axis_wire_tx_tdata, input wire [7:0] m_axis_wire_tx_tkeep, input wire [81:0] m_axis_wire_tx_tuser,
  input  wire        m_axis_wire_tx_tvalid, m_axis_wire_tx_tlast, output wire m_axis_wire_tx_tready,
  output wire        s_axis_departure_tvalid, output wire [79:0] s_axis_departure_tdata,
  // The MAC. It takes no pause of received frames, and gets each frame without a gap between its beats.
  input  wire        rx_clk, rx_reset,
  input  wire [63:0] rx_tdata, input wire [7:0] rx_tkeep, input wire rx_tvalid, rx_tlast, rx_tuser,
  input  wire        tx_clk, tx_reset,
  output wire [63:0] tx_tdata, output wire [7:0] tx_tkeep, output wire tx_tvalid, tx_tlast, input wire tx_tready
);
  // ---- received: the stamp is when the first beat has crossed; a frame that finds no space is dropped
  wire        damaged;
  wire        rx_space; // for a frame's beats but the last
  reg         in_frame, lost, skips; // the arriving frame: begun, a beat is missing, none of it is kept
  wire        skip = in_frame ? skips : !rx_space;
  wire        keeps = rx_tvalid && !skip && (rx_tlast || rx_space); // the last word is for a last beat
  always @(posedge rx_clk)
    if (rx_reset) {in_frame, lost, skips} <= 3'b000;
    else if (rx_tvalid) begin
      in_frame <= !rx_tlast;
      skips <= skip && !rx_tlast;
      lost <= !rx_tlast && (lost || !rx_space);
    end
  /* verilator lint_off PINMISSING */ // one side reads the space, the other the place
  frame_crossing #(.BITS(74), .WHOLE(0)) receive (
    .in_clk(rx_clk), .in_reset(rx_reset), .in_valid(keeps), .in_last(rx_tlast), .in_space(rx_space),
    .in_data({rx_tuser || lost, rx_tlast, rx_tkeep, rx_tdata}),
    .out_clk(clk), .out_reset(reset), .out_valid(s_axis_wire_rx_tvalid), .out_ready(s_axis_wire_rx_tready),
    .out_last(s_axis_wire_rx_tlast),
    .out_data({damaged, s_axis_wire_rx_tlast, s_axis_wire_rx_tkeep, s_axis_wire_rx_tdata}));
  assign s_axis_wire_rx_tuser = {damaged, now};

  // ---- sent: a frame of mode `at` waits for its launch time, and what is behind it too
  wire        tx_full;
  reg         begun; // beats of the frame have gone
  wire        waits = !begun && m_axis_wire_tx_tuser[65:64] == 2'd0 && now < m_axis_wire_tx_tuser[63:0];
  assign m_axis_wire_tx_tready = !waits && !tx_full;
  wire        goes = m_axis_wire_tx_tvalid && m_axis_wire_tx_tready;
  always @(posedge clk)
    if (reset) begun <= 1'b0;
    else if (goes) begun <= !m_axis_wire_tx_tlast;
  assign s_axis_departure_tvalid = goes && !begun && m_axis_wire_tx_tuser[81:66] != 16'd0;
  assign s_axis_departure_tdata = {now, m_axis_wire_tx_tuser[81:66]};
  frame_crossing #(.BITS(73), .WHOLE(1)) transmit (
    .in_clk(clk), .in_reset(reset), .in_valid(goes), .in_last(m_axis_wire_tx_tlast), .in_full(tx_full),
    .in_data({m_axis_wire_tx_tlast, m_axis_wire_tx_tkeep, m_axis_wire_tx_tdata}),
    .out_clk(tx_clk), .out_reset(tx_reset), .out_valid(tx_tvalid), .out_ready(tx_tready), .out_last(tx_tlast),
    .out_data({tx_tlast, tx_tkeep, tx_tdata}));
  /* verilator lint_on PINMISSING */
endmodule

// Beats from one clock to another. WHOLE: a frame comes out when all of it is in; jumbo frames need DEPTH_BITS 12.
// Reset both sides together.
module frame_crossing #(parameter BITS = 73, WHOLE = 1, DEPTH_BITS = 9) (
  input  wire            in_clk, in_reset, in_valid, in_last,
  input  wire [BITS-1:0] in_data,
  output wire            in_full, in_space, // no beat may come; space for two
  input  wire            out_clk, out_reset, out_ready, out_last,
  output wire            out_valid,
  output wire [BITS-1:0] out_data
);
  localparam N = DEPTH_BITS + 1;
  reg [BITS-1:0] memory [0:(1 << DEPTH_BITS) - 1];
  reg [N-1:0] in_word, complete, complete_gray; // complete: words or frames that the other side may take
  reg [N-1:0] out_word, out_gray, taken;
  reg [N-1:0] out_gray_1, out_gray_2, complete_gray_1, complete_gray_2;

  function [N-1:0] binary(input [N-1:0] gray);
    integer i;
    begin
      binary[N-1] = gray[N-1];
      for (i = N - 2; i >= 0; i = i - 1) binary[i] = binary[i+1] ^ gray[i];
    end
  endfunction

  wire [N-1:0] used = in_word - binary(out_gray_2);
  assign in_full = used[N-1];
  assign in_space = used < {1'b0, {DEPTH_BITS{1'b1}}};
  wire [N-1:0] complete_next = complete + {{N - 1{1'b0}}, in_valid && (in_last || WHOLE == 0)};
  always @(posedge in_clk) begin
    {out_gray_2, out_gray_1} <= in_reset ? {2 * N{1'b0}} : {out_gray_1, out_gray};
    if (in_valid) memory[in_word[DEPTH_BITS-1:0]] <= in_data;
    in_word <= in_reset ? {N{1'b0}} : in_word + {{N - 1{1'b0}}, in_valid};
    complete <= in_reset ? {N{1'b0}} : complete_next;
    complete_gray <= in_reset ? {N{1'b0}} : complete_next ^ (complete_next >> 1);
  end

  wire takes = out_valid && out_ready;
  wire [N-1:0] out_next = out_word + {{N - 1{1'b0}}, takes};
  assign out_valid = taken != binary(complete_gray_2);
  assign out_data = memory[out_word[DEPTH_BITS-1:0]];
  always @(posedge out_clk) begin
    {complete_gray_2, complete_gray_1} <= out_reset ? {2 * N{1'b0}} : {complete_gray_1, complete_gray};
    out_word <= out_reset ? {N{1'b0}} : out_next;
    out_gray <= out_reset ? {N{1'b0}} : out_next ^ (out_next >> 1);
    taken <= out_reset ? {N{1'b0}} : taken + {{N - 1{1'b0}}, takes && (out_last || WHOLE == 0)};
  end
endmodule
