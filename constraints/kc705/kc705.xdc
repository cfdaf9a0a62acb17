# SPDX-License-Identifier: BSD-2-Clause-Patent
# Pins of AMD's KC705, revision 1.1 and later (UG810); the PHY is an 88E1111 in GMII mode (J29 and J30 on pins 1 and 2, J64 open).

set_property CFGBVS VCCO [current_design]
set_property CONFIG_VOLTAGE 2.5 [current_design]

# The block design's clock wizard makes the clock of its differential pin.
set_property -dict {PACKAGE_PIN AD12 IOSTANDARD LVDS} [get_ports sysclk_clk_p]
set_property -dict {PACKAGE_PIN AD11 IOSTANDARD LVDS} [get_ports sysclk_clk_n]
set_property -dict {PACKAGE_PIN AB7 IOSTANDARD LVCMOS15} [get_ports cpu_reset]

set_property -dict {PACKAGE_PIN U27 IOSTANDARD LVCMOS25} [get_ports phy_rx_clk]
set_property -dict {PACKAGE_PIN U30 IOSTANDARD LVCMOS25} [get_ports {phy_rxd[0]}]
set_property -dict {PACKAGE_PIN U25 IOSTANDARD LVCMOS25} [get_ports {phy_rxd[1]}]
set_property -dict {PACKAGE_PIN T25 IOSTANDARD LVCMOS25} [get_ports {phy_rxd[2]}]
set_property -dict {PACKAGE_PIN U28 IOSTANDARD LVCMOS25} [get_ports {phy_rxd[3]}]
set_property -dict {PACKAGE_PIN R19 IOSTANDARD LVCMOS25} [get_ports {phy_rxd[4]}]
set_property -dict {PACKAGE_PIN T27 IOSTANDARD LVCMOS25} [get_ports {phy_rxd[5]}]
set_property -dict {PACKAGE_PIN T26 IOSTANDARD LVCMOS25} [get_ports {phy_rxd[6]}]
set_property -dict {PACKAGE_PIN T28 IOSTANDARD LVCMOS25} [get_ports {phy_rxd[7]}]
set_property -dict {PACKAGE_PIN R28 IOSTANDARD LVCMOS25} [get_ports phy_rx_dv]
set_property -dict {PACKAGE_PIN V26 IOSTANDARD LVCMOS25} [get_ports phy_rx_er]

set_property -dict {PACKAGE_PIN K30 IOSTANDARD LVCMOS25 SLEW FAST DRIVE 16} [get_ports phy_gtx_clk]
set_property -dict {PACKAGE_PIN N27 IOSTANDARD LVCMOS25 SLEW FAST DRIVE 16} [get_ports {phy_txd[0]}]
set_property -dict {PACKAGE_PIN N25 IOSTANDARD LVCMOS25 SLEW FAST DRIVE 16} [get_ports {phy_txd[1]}]
set_property -dict {PACKAGE_PIN M29 IOSTANDARD LVCMOS25 SLEW FAST DRIVE 16} [get_ports {phy_txd[2]}]
set_property -dict {PACKAGE_PIN L28 IOSTANDARD LVCMOS25 SLEW FAST DRIVE 16} [get_ports {phy_txd[3]}]
set_property -dict {PACKAGE_PIN J26 IOSTANDARD LVCMOS25 SLEW FAST DRIVE 16} [get_ports {phy_txd[4]}]
set_property -dict {PACKAGE_PIN K26 IOSTANDARD LVCMOS25 SLEW FAST DRIVE 16} [get_ports {phy_txd[5]}]
set_property -dict {PACKAGE_PIN L30 IOSTANDARD LVCMOS25 SLEW FAST DRIVE 16} [get_ports {phy_txd[6]}]
set_property -dict {PACKAGE_PIN J28 IOSTANDARD LVCMOS25 SLEW FAST DRIVE 16} [get_ports {phy_txd[7]}]
set_property -dict {PACKAGE_PIN M27 IOSTANDARD LVCMOS25 SLEW FAST DRIVE 16} [get_ports phy_tx_en]
set_property -dict {PACKAGE_PIN N29 IOSTANDARD LVCMOS25 SLEW FAST DRIVE 16} [get_ports phy_tx_er]
set_property -dict {PACKAGE_PIN L20 IOSTANDARD LVCMOS25 SLEW SLOW DRIVE 12} [get_ports phy_reset_n]

create_clock -period 8.000 -name phy_rx_clk [get_ports phy_rx_clk]
# The PHY's data is valid from 2.5 ns before its clock rises until 0.5 ns behind (IEEE 802.3 35.4.2.3).
set_input_delay -clock phy_rx_clk -max 5.500 [get_ports {phy_rxd[*] phy_rx_dv phy_rx_er}]
set_input_delay -clock phy_rx_clk -min 0.500 [get_ports {phy_rxd[*] phy_rx_dv phy_rx_er}]

set_false_path -from [get_ports cpu_reset]
set_false_path -to [get_ports phy_reset_n]
