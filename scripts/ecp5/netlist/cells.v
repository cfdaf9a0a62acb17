// SPDX-License-Identifier: BSD-2-Clause-Patent
// Cells of the ECP5 as Yosys's synth_ecp5 uses them (Lattice FPGA-TN-02204, FPGA-TN-02205); test_cells.py compares them with the Verilog
// that is mapped to them. Yosys ships models too, but none of block RAM and multiplier, and its LUT makes a netlist twice as much C++.

module LUT4 #(
  parameter [15:0] INIT = 0
) (
  input A, B, C, D,
  output Z
);
  assign Z = INIT[{D, C, B, A}];
endmodule

module PFUMX (
  input ALUT, BLUT, C0,
  output Z
);
  assign Z = C0 ? ALUT : BLUT;
endmodule

module L6MUX21 (
  input D0, D1, SD,
  output Z
);
  assign Z = SD ? D1 : D0;
endmodule

// Two bits of a carry chain: of each a LUT4, whose lower half's half generates.
module CCU2C #(
  parameter [15:0] INIT0 = 0, INIT1 = 0,
  parameter INJECT1_0 = "YES", INJECT1_1 = "YES"
) (
  input CIN, A0, B0, C0, D0, A1, B1, C1, D1,
  output S0, S1, COUT
);
  wire propagates0 = INIT0[{D0, C0, B0, A0}];
  wire propagates1 = INIT1[{D1, C1, B1, A1}];
  wire carry = propagates0 ? CIN : INJECT1_0 == "NO" && INIT0[{2'b0, B0, A0}];
  assign S0 = propagates0 ^ (INJECT1_0 == "NO" && CIN);
  assign S1 = propagates1 ^ (INJECT1_1 == "NO" && carry);
  assign COUT = propagates1 ? carry : INJECT1_1 == "NO" && INIT1[{2'b0, B1, A1}];
endmodule

// It starts as the FPGA's global reset sets it.
module TRELLIS_FF #(
  parameter CEMUX = "1", CLKMUX = "CLK", LSRMUX = "LSR", SRMODE = "LSR_OVER_CE", REGSET = "RESET", GSR = "ENABLED"
) (
  input CLK, LSR, CE, DI,
  output reg Q
);
  localparam START = REGSET == "SET";
  wire enable = CEMUX == "1" || (CEMUX == "INV" ? !CE : CE);
  initial Q = START;
  always @(posedge CLK)
    if (LSRMUX == "INV" ? !LSR : LSR) Q <= START;
    else if (enable) Q <= DI;
endmodule

module TRELLIS_DPR16X4 #(
  parameter WCKMUX = "WCK", WREMUX = "WRE",
  parameter [63:0] INITVAL = 0
) (
  input WCK, WRE,
  input [3:0] WAD, DI, RAD,
  output [3:0] DO
);
  reg [3:0] words[0:15];
  integer at;
  initial for (at = 0; at < 16; at = at + 1) words[at] = INITVAL[4 * at +: 4];
  always @(posedge WCK) if (WRE) words[WAD] <= DI;
  assign DO = words[RAD];
endmodule

// 18 Kbit with two ports of 1, 2, 4, 9 or 18 bits, or A writing {DIB, DIA}, B reading {DOB, DOA} of 36. An address counts bits, the
// ninth of each byte left out; a port of 18 bits and more has byte enables in the place of the lowest. Nobody may rely on what the data
// sheet leaves undefined, so that is random: contents at the start, unless some are given, and a byte that one port reads while the
// other writes it. Both clocks are one. Nobody resets an output register.
module DP16KD #(
  parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18, WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL",
  parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG", RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC",
  parameter CSDECODE_A = "0b000", CSDECODE_B = "0b000", CLKAMUX = "CLKA", CLKBMUX = "CLKB", GSR = "AUTO",
  parameter OCEAMUX = "OCEA", OCEBMUX = "OCEB",
  parameter [319:0] INITVAL_00 = 320'h0, INITVAL_01 = 320'h0, INITVAL_02 = 320'h0, INITVAL_03 = 320'h0, INITVAL_04 =
      320'h0, INITVAL_05 = 320'h0, INITVAL_06 = 320'h0, INITVAL_07 = 320'h0, INITVAL_08 = 320'h0,
      INITVAL_09 = 320'h0, INITVAL_0A = 320'h0, INITVAL_0B = 320'h0, INITVAL_0C = 320'h0, INITVAL_0D =
      320'h0, INITVAL_0E = 320'h0, INITVAL_0F = 320'h0, INITVAL_10 = 320'h0, INITVAL_11 = 320'h0,
      INITVAL_12 = 320'h0, INITVAL_13 = 320'h0, INITVAL_14 = 320'h0, INITVAL_15 = 320'h0, INITVAL_16 =
      320'h0, INITVAL_17 = 320'h0, INITVAL_18 = 320'h0, INITVAL_19 = 320'h0, INITVAL_1A = 320'h0,
      INITVAL_1B = 320'h0, INITVAL_1C = 320'h0, INITVAL_1D = 320'h0, INITVAL_1E = 320'h0, INITVAL_1F =
      320'h0, INITVAL_20 = 320'h0, INITVAL_21 = 320'h0, INITVAL_22 = 320'h0, INITVAL_23 = 320'h0,
      INITVAL_24 = 320'h0, INITVAL_25 = 320'h0, INITVAL_26 = 320'h0, INITVAL_27 = 320'h0, INITVAL_28 =
      320'h0, INITVAL_29 = 320'h0, INITVAL_2A = 320'h0, INITVAL_2B = 320'h0, INITVAL_2C = 320'h0,
      INITVAL_2D = 320'h0, INITVAL_2E = 320'h0, INITVAL_2F = 320'h0, INITVAL_30 = 320'h0, INITVAL_31 =
      320'h0, INITVAL_32 = 320'h0, INITVAL_33 = 320'h0, INITVAL_34 = 320'h0, INITVAL_35 = 320'h0,
      INITVAL_36 = 320'h0, INITVAL_37 = 320'h0, INITVAL_38 = 320'h0, INITVAL_39 = 320'h0, INITVAL_3A =
      320'h0, INITVAL_3B = 320'h0, INITVAL_3C = 320'h0, INITVAL_3D = 320'h0, INITVAL_3E = 320'h0,
      INITVAL_3F = 320'h0
) (
  input CLKA, CEA, OCEA, WEA, RSTA, CSA0, CSA1, CSA2, CLKB, CEB, OCEB, WEB, RSTB, CSB0, CSB1, CSB2,
  input ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
  input ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
  input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1,
      DIA0,
  input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1,
      DIB0,
  output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1,
      DOA0,
  output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1,
      DOB0
);
  localparam [64 * 320 - 1:0] GIVEN = {
    INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39, INITVAL_38, INITVAL_37,
    INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32, INITVAL_31, INITVAL_30, INITVAL_2F, INITVAL_2E,
    INITVAL_2D, INITVAL_2C, INITVAL_2B, INITVAL_2A, INITVAL_29, INITVAL_28, INITVAL_27, INITVAL_26, INITVAL_25,
    INITVAL_24, INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20, INITVAL_1F, INITVAL_1E, INITVAL_1D, INITVAL_1C,
    INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18, INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13,
    INITVAL_12, INITVAL_11, INITVAL_10, INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A,
    INITVAL_09, INITVAL_08, INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01,
    INITVAL_00};

  reg [8:0] bytes[0:2047];
  integer at;
  initial
    for (at = 0; at < 2048; at = at + 1)
      bytes[at] = GIVEN == 0 ? 9'($urandom) : GIVEN[20 * (at / 2) + 9 * (at % 2) +: 9];

  wire [13:0] address_a = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
  wire [13:0] address_b = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
  wire [17:0] low = {
    DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
  wire [17:0] high = {
    DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0};

  // Bytes that a port writes: four from the first one on, and a bit for each of theirs that changes.
  wire [10:0] first_a = first(DATA_WIDTH_A, address_a);
  wire [10:0] first_b = first(DATA_WIDTH_B, address_b);
  wire [35:0] data_a = DATA_WIDTH_A == 36 ? {high, low} : placed(DATA_WIDTH_A, address_a, low);
  wire [35:0] data_b = placed(DATA_WIDTH_B, address_b, high);
  wire [35:0] mask_a = WEA && CEA && !RSTA ? mask(DATA_WIDTH_A, address_a) : 36'b0;
  wire [35:0] mask_b = WEB && CEB && !RSTB ? mask(DATA_WIDTH_B, address_b) : 36'b0;

  function [10:0] first(input integer width, input [13:0] address);
    first = address[13:3] & ~(width == 36 ? 11'd3 : width == 18 ? 11'd1 : 11'd0);
  endfunction

  function [35:0] placed(input integer width, input [13:0] address, input [17:0] data);
    placed = width >= 9 ? {18'b0, data} : {18'b0, data} << offset(width, address);
  endfunction

  function [2:0] offset(input integer width, input [13:0] address);
    offset = width >= 9 ? 3'd0 : address[2:0] & ~(3'(width) - 3'd1);
  endfunction

  function [35:0] mask(input integer width, input [13:0] address);
    case (width)
      36: mask = {{9{address[3]}}, {9{address[2]}}, {9{address[1]}}, {9{address[0]}}};
      18: mask = {18'b0, {9{address[1]}}, {9{address[0]}}};
      9: mask = 36'h1ff;
      default: mask = ((36'd1 << width) - 36'd1) << offset(width, address);
    endcase
  endfunction

  // Bytes that a port reads from its first one on, before this clock's write of the other port.
  function [35:0] fetched(input [10:0] from, input [10:0] other, input [35:0] writes);
    integer i, j;
    begin
      for (i = 0; i < 4; i = i + 1) begin
        fetched[9 * i +: 9] = bytes[from + 11'(i)];
        for (j = 0; j < 4; j = j + 1)
          if (from + 11'(i) == other + 11'(j) && writes[9 * j +: 9] != 0) fetched[9 * i +: 9] = 9'($urandom);
      end
    end
  endfunction

  reg [35:0] read_a = 0, read_b = 0, registered_a = 0, registered_b = 0;
  wire clock_a = CLKAMUX == "INV" ? ~CLKA : CLKA;
  wire clock_b = CLKBMUX == "INV" ? ~CLKB : CLKB;
  integer i;
  always @(posedge clock_a) begin
    for (i = 0; i < 4; i = i + 1)
      if (mask_a[9 * i +: 9] != 0)
        bytes[first_a + 11'(i)] <= bytes[first_a + 11'(i)] & ~mask_a[9 * i +: 9] | data_a[9 * i +: 9] & mask_a[9 * i +: 9];
    if (OCEAMUX == "INV" ? !OCEA : OCEA) registered_a <= read_a;
    if (RSTA) read_a <= 0;
    else if (CEA && !(mask_a != 0 && WRITEMODE_A == "NORMAL"))
      read_a <= (fetched(first_a, first_b, mask_b) & ~(WRITEMODE_A == "WRITETHROUGH" ? mask_a : 36'b0)
        | data_a & (WRITEMODE_A == "WRITETHROUGH" ? mask_a : 36'b0)) >> offset(DATA_WIDTH_A, address_a);
  end
  integer k;
  always @(posedge clock_b) begin
    for (k = 0; k < 4; k = k + 1)
      if (mask_b[9 * k +: 9] != 0)
        bytes[first_b + 11'(k)] <= bytes[first_b + 11'(k)] & ~mask_b[9 * k +: 9] | data_b[9 * k +: 9] & mask_b[9 * k +: 9];
    if (OCEBMUX == "INV" ? !OCEB : OCEB) registered_b <= read_b;
    if (RSTB) read_b <= 0;
    else if (CEB && !(mask_b != 0 && WRITEMODE_B == "NORMAL"))
      read_b <= (fetched(first_b, first_a, mask_a) & ~(WRITEMODE_B == "WRITETHROUGH" ? mask_b : 36'b0)
        | data_b & (WRITEMODE_B == "WRITETHROUGH" ? mask_b : 36'b0)) >> offset(DATA_WIDTH_B, address_b);
  end

  wire [35:0] out_a = REGMODE_A == "OUTREG" ? registered_a : read_a;
  wire [35:0] out_b = REGMODE_B == "OUTREG" ? registered_b : read_b;
  assign {
    DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0}
    = DATA_WIDTH_B == 36 ? out_b[17:0] : out_a[17:0];
  assign {
    DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0}
    = DATA_WIDTH_B == 36 ? out_b[35:18] : out_b[17:0];
endmodule

// Without its registers, which synth_ecp5 does not use.
module MULT18X18D #(
  parameter REG_INPUTA_CLK = "NONE", REG_INPUTB_CLK = "NONE", REG_PIPELINE_CLK = "NONE", REG_OUTPUT_CLK = "NONE"
) (
  input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
  input A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0,
  input B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0,
  input C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0,
  output P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15, P14,
      P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
);
  wire [17:0] a = {A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0};
  wire [17:0] b = {B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0};
  wire signed [36:0] product = $signed({SIGNEDA && A17, a}) * $signed({SIGNEDB && B17, b});
  assign {
    P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15, P14, P13,
    P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0} = product[35:0];
endmodule
