// SPDX-License-Identifier: BSD-2-Clause-Patent
// Downbeat's payload memory in DRAM: the core's `m_axi_*` to the AXI4 port of a memory controller (MIG, LiteDRAM behind
// its AXI adapter), or of a bridge to a host's memory. Build: PRESET=default,externalMemory=true.
module ddr #(
  parameter CORE_BITS = 21, // width of m_axi_awaddr in the build
  parameter ADDRESS_BITS = 32,
  parameter [ADDRESS_BITS-1:0] BASE = 0 // a multiple of the payload memory's size
) (
  // Downbeat's ports of these names.
  input  wire [CORE_BITS-1:0] m_axi_awaddr, m_axi_araddr,
  input  wire        m_axi_awvalid, m_axi_arvalid, m_axi_wvalid, m_axi_wlast, m_axi_bready, m_axi_rready,
  input  wire [1:0]  m_axi_awid, m_axi_arid, m_axi_awburst, m_axi_arburst, input wire [7:0] m_axi_awlen, m_axi_arlen,
  input  wire [2:0]  m_axi_awsize, m_axi_arsize, input wire [63:0] m_axi_wdata, input wire [7:0] m_axi_wstrb,
  output wire        m_axi_awready, m_axi_arready, m_axi_wready, m_axi_bvalid, m_axi_rvalid, m_axi_rlast,
  output wire [1:0]  m_axi_bid, m_axi_rid, m_axi_bresp, m_axi_rresp, output wire [63:0] m_axi_rdata,
  // The controller, in the core's clock; reset it with `core_reset`, since the core's reset forgets bursts under way.
  output wire [ADDRESS_BITS-1:0] ddr_awaddr, ddr_araddr,
  output wire        ddr_awvalid, ddr_arvalid, ddr_wvalid, ddr_wlast, ddr_bready, ddr_rready, ddr_awlock, ddr_arlock,
  output wire [1:0]  ddr_awid, ddr_arid, ddr_awburst, ddr_arburst, output wire [7:0] ddr_awlen, ddr_arlen,
  output wire [2:0]  ddr_awsize, ddr_arsize, ddr_awprot, ddr_arprot, output wire [3:0] ddr_awcache, ddr_arcache,
  output wire [3:0]  ddr_awqos, ddr_arqos, output wire [63:0] ddr_wdata, output wire [7:0] ddr_wstrb,
  input  wire        ddr_awready, ddr_arready, ddr_wready, ddr_bvalid, ddr_rvalid, ddr_rlast,
  input  wire [1:0]  ddr_bid, ddr_rid, ddr_bresp, ddr_rresp, input wire [63:0] ddr_rdata
);
  assign ddr_awaddr = BASE | {{ADDRESS_BITS - CORE_BITS{1'b0}}, m_axi_awaddr};
  assign ddr_araddr = BASE | {{ADDRESS_BITS - CORE_BITS{1'b0}}, m_axi_araddr};
  assign {ddr_awvalid, ddr_awid, ddr_awlen, ddr_awsize} = {m_axi_awvalid, m_axi_awid, m_axi_awlen, m_axi_awsize};
  assign {ddr_arvalid, ddr_arid, ddr_arlen, ddr_arsize} = {m_axi_arvalid, m_axi_arid, m_axi_arlen, m_axi_arsize};
  assign {ddr_awburst, ddr_arburst} = {m_axi_awburst, m_axi_arburst};
  assign {ddr_wvalid, ddr_wlast, ddr_wdata, ddr_wstrb} = {m_axi_wvalid, m_axi_wlast, m_axi_wdata, m_axi_wstrb};
  assign {ddr_bready, ddr_rready} = {m_axi_bready, m_axi_rready};
  // Signals that the core does not have: unprivileged, secure data; normal memory, not cached, bufferable.
  assign {ddr_awprot, ddr_awcache, ddr_awlock, ddr_awqos} = {3'b000, 4'b0011, 1'b0, 4'd0};
  assign {ddr_arprot, ddr_arcache, ddr_arlock, ddr_arqos} = {3'b000, 4'b0011, 1'b0, 4'd0};
  assign {m_axi_awready, m_axi_arready, m_axi_wready} = {ddr_awready, ddr_arready, ddr_wready};
  assign {m_axi_bvalid, m_axi_bid, m_axi_bresp} = {ddr_bvalid, ddr_bid, ddr_bresp};
  assign {m_axi_rvalid, m_axi_rid, m_axi_rresp} = {ddr_rvalid, ddr_rid, ddr_rresp};
  assign {m_axi_rlast, m_axi_rdata} = {ddr_rlast, ddr_rdata};
endmodule
