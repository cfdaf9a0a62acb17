// SPDX-License-Identifier: BSD-2-Clause-Patent
// Downbeat dropped into a NIC: between its MAC (frames without FCS) and its own receive and transmit streams.
// TCP for `ip` is the core's, and it answers ARP and ping; all other frames pass by, as ARP replies and ICMP errors do.
// Application ports are tied off here; compile with downbeat.f. For a build without VLANs or path reports leave out
// local_vlans or m_axis_path_report (docs/reference/presets.md).
module nic #(
  // Widths of the build: the ports reference has them for the preset `default`, ports.md of a release for the others.
  parameter COMMAND_BITS = 640, FLOW_BITS = 4
) (
  input  wire        clk, reset,
  input  wire [47:0] mac, input wire [31:0] ip, netmask, gateway,
  input  wire [127:0] secret, // random, constant
  input  wire [63:0] mac_rx_tdata, input wire [7:0] mac_rx_tkeep, input wire mac_rx_tvalid, mac_rx_tlast, mac_rx_tuser,
  output wire        mac_rx_tready,
  output wire [63:0] mac_tx_tdata, output wire [7:0] mac_tx_tkeep, output wire mac_tx_tvalid, mac_tx_tlast,
  input  wire        mac_tx_tready,
  output wire [63:0] nic_rx_tdata, output wire [7:0] nic_rx_tkeep, output wire nic_rx_tvalid, nic_rx_tlast,
  input  wire        nic_rx_tready,
  input  wire [63:0] nic_tx_tdata, input wire [7:0] nic_tx_tkeep, input wire nic_tx_tvalid, nic_tx_tlast,
  output wire        nic_tx_tready
);
  reg [63:0] now; // ns, 16 fraction bits; 125 MHz
  always @(posedge clk) now <= reset ? 64'd0 : now + (64'd8 << 16);

  // To the MAC: a frame goes at once, whatever its launch time; that needs a launch gate. A tagged frame's departure is
  // when the MAC takes its first beat: without departures the core measures no round trips.
  wire [95:0] launch; // 63..0 launch time, 65..64 mode, 81..66 tag, 95..82 last byte
  reg first; // beat of a frame
  always @(posedge clk)
    if (reset) first <= 1'b1;
    else if (mac_tx_tvalid && mac_tx_tready) first <= mac_tx_tlast;
  wire departs = first && mac_tx_tvalid && mac_tx_tready && launch[81:66] != 16'd0;

  /* verilator lint_off PINMISSING */ // notifications, received data, records, counters: your logic reads them
  Downbeat core (
    .clk(clk), .reset(reset), .now(now), .local_mac(mac), .local_ip(ip), .secret(secret),
    .local_netmask(netmask), .local_gateway(gateway), .local_vlans(48'd0),
    .s_axis_neighbour_tvalid(1'b0), .s_axis_neighbour_tdata(88'd0),
    // From the MAC: the stamp is when the frame's first beat is here.
    .s_axis_wire_rx_tdata(mac_rx_tdata), .s_axis_wire_rx_tkeep(mac_rx_tkeep), .s_axis_wire_rx_tvalid(mac_rx_tvalid),
    .s_axis_wire_rx_tlast(mac_rx_tlast), .s_axis_wire_rx_tready(mac_rx_tready), .s_axis_wire_rx_tuser({mac_rx_tuser, now}),
    .m_axis_wire_tx_tdata(mac_tx_tdata), .m_axis_wire_tx_tkeep(mac_tx_tkeep), .m_axis_wire_tx_tvalid(mac_tx_tvalid),
    .m_axis_wire_tx_tlast(mac_tx_tlast), .m_axis_wire_tx_tready(mac_tx_tready), .m_axis_wire_tx_tuser(launch),
    .s_axis_departure_tvalid(departs), .s_axis_departure_tdata({now, launch[81:66]}),
    .m_axis_bypass_rx_tdata(nic_rx_tdata), .m_axis_bypass_rx_tkeep(nic_rx_tkeep), .m_axis_bypass_rx_tvalid(nic_rx_tvalid),
    .m_axis_bypass_rx_tlast(nic_rx_tlast), .m_axis_bypass_rx_tready(nic_rx_tready),
    .s_axis_bypass_tx_tdata(nic_tx_tdata), .s_axis_bypass_tx_tkeep(nic_tx_tkeep), .s_axis_bypass_tx_tvalid(nic_tx_tvalid),
    .s_axis_bypass_tx_tlast(nic_tx_tlast), .s_axis_bypass_tx_tready(nic_tx_tready),
    // Your logic: commands (open_command.v) and data to send; notifications, path reports and received data.
    .s_axis_command_tvalid(1'b0), .s_axis_command_tdata({COMMAND_BITS{1'b0}}),
    .s_axis_tx_tvalid(1'b0), .s_axis_tx_tdata(64'd0), .s_axis_tx_tkeep(8'd0), .s_axis_tx_tlast(1'b0),
    .s_axis_tx_tuser(1'b0), .s_axis_tx_tdest({FLOW_BITS{1'b0}}),
    .m_axis_notification_tready(1'b1), .m_axis_path_report_tready(1'b1), .m_axis_rx_tready(1'b1)
  );
  /* verilator lint_on PINMISSING */
endmodule
