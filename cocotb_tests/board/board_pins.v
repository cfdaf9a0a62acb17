// SPDX-License-Identifier: BSD-2-Clause-Patent
// A board of two ports, BOARD, with PHYs that put each clock in the middle of its data, 2 ns late; `cable` is one from the first port to the second.
// `broken`: the rules of its SDRAM that were (sdram.v).
module board_pins (
  input  wire       clk,
  input  wire       reset,
  input  wire       wire_clk,
  input  wire       late_clk,
  input  wire       cable,
  output wire       uart_txd,
  input  wire       uart_rxd,
  output wire       tx_clk,
  output wire       tx_ctl,
  output wire [3:0] txd,
  input  wire       rx_ctl,
  input  wire [3:0] rxd,
  output wire       mdc,
  input  wire       mdio_in,
  output wire       mdio_out,
  output wire       mdio_drives,
  output wire       phy_reset_n,
  output wire [0:0] leds,
  output wire [11:0] broken
);
  wire sdram_clk, ras_n, cas_n, we_n;
  wire [10:0] a;
  wire [1:0] ba;
  wire [31:0] dq_read, dq_write, dq_drives;
  sdram #(.POWER_UP_NS(2_000)) chip (
    .clk(sdram_clk), .ras_n(ras_n), .cas_n(cas_n), .we_n(we_n), .a(a), .ba(ba),
    .dq_write(dq_write), .dq_drives(dq_drives[0]), .dq_read(dq_read), .broken(broken), .refreshes()
  );
  `BOARD board (
    .clk(clk), .reset(reset), .wire_clk(wire_clk), .uart_txd(uart_txd), .uart_rxd(uart_rxd),
    .rgmii_0_tx_clk(tx_clk), .rgmii_0_tx_ctl(tx_ctl), .rgmii_0_txd(txd),
    .rgmii_0_rx_clk(late_clk), .rgmii_0_rx_ctl(rx_ctl), .rgmii_0_rxd(rxd),
    .rgmii_1_tx_clk(), .rgmii_1_tx_ctl(), .rgmii_1_txd(),
    .rgmii_1_rx_clk(late_clk), .rgmii_1_rx_ctl(cable ? tx_ctl : rx_ctl), .rgmii_1_rxd(cable ? txd : rxd),
    .mdio_C(mdc), .mdio_IO_read(mdio_in), .mdio_IO_write(mdio_out), .mdio_IO_writeEnable(mdio_drives),
    .phy_reset_n(phy_reset_n), .leds(leds),
    .sdram_clk(sdram_clk), .sdram_ras_n(ras_n), .sdram_cas_n(cas_n), .sdram_we_n(we_n), .sdram_a(a), .sdram_ba(ba),
    .sdram_dq_read(dq_read), .sdram_dq_write(dq_write), .sdram_dq_writeEnable(dq_drives)
  );
endmodule
