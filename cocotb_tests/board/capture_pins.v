// SPDX-License-Identifier: BSD-2-Clause-Patent
// The store of captured frames with its SDRAM.
module capture_pins (
  input  wire        clk,
  input  wire        reset,
  input  wire        push_valid,
  output wire        push_ready,
  input  wire [63:0] push_payload,
  output wire        pop_valid,
  input  wire        pop_ready,
  output wire [63:0] pop_payload,
  output wire [12:0] level,
  output wire        hasSpace,
  output wire [11:0] broken,
  output wire [31:0] refreshes
);
  wire sdram_clk, ras_n, cas_n, we_n;
  wire [10:0] a;
  wire [1:0] ba;
  wire [31:0] dq_read, dq_write, dq_drives;
  CaptureStore store (
    .clk(clk), .reset(reset), .push_valid(push_valid), .push_ready(push_ready), .push_payload(push_payload),
    .pop_valid(pop_valid), .pop_ready(pop_ready), .pop_payload(pop_payload), .level(level), .hasSpace(hasSpace),
    .sdram_clk(sdram_clk), .sdram_ras_n(ras_n), .sdram_cas_n(cas_n), .sdram_we_n(we_n), .sdram_a(a), .sdram_ba(ba),
    .sdram_dq_read(dq_read), .sdram_dq_write(dq_write), .sdram_dq_writeEnable(dq_drives)
  );
  sdram #(.POWER_UP_NS(2_000)) chip (
    .clk(sdram_clk), .ras_n(ras_n), .cas_n(cas_n), .we_n(we_n), .a(a), .ba(ba),
    .dq_write(dq_write), .dq_drives(dq_drives[0]), .dq_read(dq_read), .broken(broken), .refreshes(refreshes)
  );
endmodule
