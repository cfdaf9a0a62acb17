// SPDX-License-Identifier: BSD-2-Clause-Patent
// Downbeat's registers behind a bridge from PCIe to AXI4-Lite (XDMA's M_AXI_LITE, LitePCIe's or your own): a BAR of
// 4 KiB or more, in the bridge's clock, which is the core's here. Offsets are those of downbeat_registers.h.
module pcie (
  input  wire        clk, axi_resetn, // from the bridge
  output wire        reset, // to the core
  // The bridge's master.
  input  wire [31:0] bar_awaddr, bar_araddr, bar_wdata, input wire [3:0] bar_wstrb, input wire [2:0] bar_awprot, bar_arprot,
  input  wire        bar_awvalid, bar_arvalid, bar_wvalid, bar_bready, bar_rready,
  output wire        bar_awready, bar_arready, bar_wready, bar_bvalid, bar_rvalid,
  output wire [31:0] bar_rdata, output wire [1:0] bar_bresp, bar_rresp,
  // DownbeatAxi's ports of these names.
  output wire [11:0] s_axil_awaddr, s_axil_araddr, output wire [31:0] s_axil_wdata, output wire [3:0] s_axil_wstrb,
  output wire [2:0]  s_axil_awprot, s_axil_arprot,
  output wire        s_axil_awvalid, s_axil_arvalid, s_axil_wvalid, s_axil_bready, s_axil_rready,
  input  wire        s_axil_awready, s_axil_arready, s_axil_wready, s_axil_bvalid, s_axil_rvalid,
  input  wire [31:0] s_axil_rdata, input wire [1:0] s_axil_bresp, s_axil_rresp
);
  reg [1:0] synchronised; // the reset of a bridge may end at any time
  always @(posedge clk or negedge axi_resetn)
    if (!axi_resetn) synchronised <= 2'b11;
    else synchronised <= {synchronised[0], 1'b0};
  assign reset = synchronised[1];

  assign {s_axil_awaddr, s_axil_araddr} = {bar_awaddr[11:0], bar_araddr[11:0]};
  assign {s_axil_awvalid, s_axil_arvalid, s_axil_wvalid} = {bar_awvalid, bar_arvalid, bar_wvalid};
  assign {s_axil_awprot, s_axil_arprot, s_axil_wdata, s_axil_wstrb} = {bar_awprot, bar_arprot, bar_wdata, bar_wstrb};
  assign {s_axil_bready, s_axil_rready} = {bar_bready, bar_rready};
  assign {bar_awready, bar_arready, bar_wready} = {s_axil_awready, s_axil_arready, s_axil_wready};
  assign {bar_bvalid, bar_bresp} = {s_axil_bvalid, s_axil_bresp};
  assign {bar_rvalid, bar_rresp, bar_rdata} = {s_axil_rvalid, s_axil_rresp, s_axil_rdata};
endmodule
