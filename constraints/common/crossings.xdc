# SPDX-License-Identifier: BSD-2-Clause-Patent
# The clock-domain crossings of DownbeatGmii and DownbeatXgmii (docs/reference/mac.md lists them; rtl/downbeat/builds/Crossings.scala names them), scoped to the core.
# Gray pointers, toggles and what they announce take less than a clock of the side that they come from: no two bits of a Gray number then
# arrive in the wrong order, and a value is there when its toggle has been through two registers. 4 ns are right for cores up to 250 MHz.

set clocks [get_clocks -of_objects [get_ports -quiet {clk gmii_rx_clk gmii_gtx_clk xgmii_rx_clk xgmii_tx_clk external_clk}]]
set bound 4.000

# Synchronisers' first registers.
set_max_delay -datapath_only -from $clocks -to [get_cells -hierarchical -filter {NAME =~ *_buffercc*/buffers_0_reg*}] $bound
# Values that stand still while their toggle crosses.
set_max_delay -datapath_only -from $clocks -to [get_cells -hierarchical -filter {NAME =~ */popArea_stream_rData*_reg*}] $bound
# Words read from queues and frame memories that are not in block RAM.
set_max_delay -datapath_only -from $clocks -to [get_cells -quiet -hierarchical -filter {NAME =~ */ram_spinal_port1_reg*}] $bound
set_max_delay -datapath_only -from $clocks -to [get_cells -quiet -hierarchical -filter {NAME =~ */ring_spinal_port1_reg*}] $bound

# Resets come at any time and end in a synchroniser; the pulse pin has no clock.
set_false_path -to [get_pins -hierarchical -filter {NAME =~ *asyncAssertSyncDeassert_buffercc*/buffers_*_reg*/PRE}]
set_false_path -from [get_ports pps_in]
