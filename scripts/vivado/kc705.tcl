# SPDX-License-Identifier: BSD-2-Clause-Patent
# A project for AMD's KC705 (XC7K325T, GMII PHY): DownbeatGmii with its registers on JTAG.
#   vivado -mode batch -source scripts/vivado/kc705.tcl -tclargs build/vivado/ip build/vivado/kc705 [build]
# The first argument is what package.tcl filled with DownbeatGmii, for this part; with `build` it goes on to the bitstream.
# No application is connected: the core answers ARP and ping, and its counters and time are read by JTAG. Not run with Vivado yet (docs/how-to/vivado.md).

set here [file dirname [file normalize [info script]]]
lassign $argv ip_place place build
set part xc7k325tffg900-2

create_project -force kc705 $place -part $part
set_property ip_repo_paths $ip_place [current_project]
update_ip_catalog
add_files -fileset constrs_1 -norecurse [file join $here .. .. constraints kc705 kc705.xdc]
create_bd_design kc705

# ---- pins

create_bd_intf_port -mode Slave -vlnv xilinx.com:interface:diff_clock_rtl:1.0 sysclk
set_property CONFIG.FREQ_HZ 200000000 [get_bd_intf_ports sysclk]
create_bd_port -dir I -type rst cpu_reset
set_property CONFIG.POLARITY ACTIVE_HIGH [get_bd_ports cpu_reset]
create_bd_port -dir I -type clk -freq_hz 125000000 phy_rx_clk
foreach {name width} {phy_rxd 8 phy_rx_dv 1 phy_rx_er 1} {
    if {$width > 1} { create_bd_port -dir I -from [expr {$width - 1}] -to 0 $name } else { create_bd_port -dir I $name }
}
create_bd_port -dir O -from 7 -to 0 phy_txd
foreach name {phy_tx_en phy_tx_er phy_gtx_clk phy_reset_n} { create_bd_port -dir O $name }

# ---- clocks: 125 MHz for the wire, half a clock late for the PHY, so that it samples in the middle of a byte; 100 MHz for the core

create_bd_cell -type ip -vlnv xilinx.com:ip:clk_wiz clocks
set_property -dict {
    CONFIG.PRIM_SOURCE Differential_clock_capable_pin CONFIG.PRIM_IN_FREQ 200.000 CONFIG.NUM_OUT_CLKS 3
    CONFIG.CLKOUT1_REQUESTED_OUT_FREQ 125.000
    CONFIG.CLKOUT2_USED true CONFIG.CLKOUT2_REQUESTED_OUT_FREQ 125.000 CONFIG.CLKOUT2_REQUESTED_PHASE 180.000
    CONFIG.CLKOUT3_USED true CONFIG.CLKOUT3_REQUESTED_OUT_FREQ 100.000
    CONFIG.USE_RESET true CONFIG.RESET_TYPE ACTIVE_HIGH
} [get_bd_cells clocks]
connect_bd_intf_net [get_bd_intf_ports sysclk] [get_bd_intf_pins clocks/CLK_IN1_D]
connect_bd_net [get_bd_ports cpu_reset] [get_bd_pins clocks/reset]

create_bd_cell -type ip -vlnv xilinx.com:ip:proc_sys_reset resets
connect_bd_net [get_bd_pins clocks/clk_out3] [get_bd_pins resets/slowest_sync_clk]
connect_bd_net [get_bd_pins clocks/locked] [get_bd_pins resets/dcm_locked]
connect_bd_net [get_bd_ports cpu_reset] [get_bd_pins resets/ext_reset_in]

# ---- the core

create_bd_cell -type ip -vlnv downbeat:network:DownbeatGmii core
connect_bd_net [get_bd_pins clocks/clk_out3] [get_bd_pins core/clk]
connect_bd_net [get_bd_pins clocks/clk_out3] [get_bd_pins core/external_clk]
connect_bd_net [get_bd_pins resets/peripheral_reset] [get_bd_pins core/reset]
connect_bd_net [get_bd_pins clocks/clk_out1] [get_bd_pins core/gmii_gtx_clk]
connect_bd_net [get_bd_pins clocks/clk_out2] [get_bd_ports phy_gtx_clk]
connect_bd_net [get_bd_ports phy_rx_clk] [get_bd_pins core/gmii_rx_clk]
foreach name {rxd rx_dv rx_er} { connect_bd_net [get_bd_ports phy_$name] [get_bd_pins core/gmii_$name] }
foreach name {txd tx_en tx_er} { connect_bd_net [get_bd_pins core/gmii_$name] [get_bd_ports phy_$name] }
connect_bd_net [get_bd_pins resets/peripheral_aresetn] [get_bd_ports phy_reset_n]

# The PHY's straps bring the link up without MDIO; notifications, path reports and frames of others are let go.
create_bd_cell -type ip -vlnv xilinx.com:ip:xlconstant one
foreach name {
    link_up m_axis_notification_tready m_axis_path_report_tready m_axis_bypass_rx_tready m_axis_rx_tready
} {
    connect_bd_net [get_bd_pins one/dout] [get_bd_pins core/$name]
}

# ---- registers on JTAG: create_hw_axi_txn in the hardware manager, offsets as in docs/reference/register-map.md

create_bd_cell -type ip -vlnv xilinx.com:ip:jtag_axi jtag
set_property CONFIG.PROTOCOL 2 [get_bd_cells jtag]
connect_bd_net [get_bd_pins clocks/clk_out3] [get_bd_pins jtag/aclk]
connect_bd_net [get_bd_pins resets/peripheral_aresetn] [get_bd_pins jtag/aresetn]
connect_bd_intf_net [get_bd_intf_pins jtag/M_AXI] [get_bd_intf_pins core/s_axil]
assign_bd_address -offset 0x0 -range 4K

validate_bd_design
save_bd_design
make_wrapper -files [get_files kc705.bd] -top -import
set_property top kc705_wrapper [current_fileset]

if {$build eq "build"} {
    launch_runs impl_1 -to_step write_bitstream -jobs 2
    wait_on_run impl_1
    open_run impl_1
    report_timing_summary -file [file join $place timing.txt]
    report_utilization -hierarchical -file [file join $place utilization.txt]
    report_cdc -details -file [file join $place cdc.txt]
}
close_project
