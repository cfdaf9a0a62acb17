# SPDX-License-Identifier: BSD-2-Clause-Patent
# What the ports of a top are to Vivado, for package.tcl: interfaces by the beginning of their ports' names, clocks, resets, plain ports.

namespace eval downbeat {
    # name -> {kind, mode, clock}; one whose ports a build does not have is left out.
    variable streams {
        s_axis_wire_rx slave m_axis_wire_tx master s_axis_departure slave s_axis_neighbour slave
        m_axis_bypass_rx master s_axis_bypass_tx slave s_axis_command slave m_axis_notification master
        m_axis_path_report master s_axis_tx slave m_axis_rx master
    }
    # With the registers at s_axil; m_axi only with externalMemory, m_axi_host with a host's rings.
    variable mapped {s_axil slave m_axi master m_axi_host master}

    # All interfaces belong to clk. The clocks of the wire and of an external time are those of DownbeatGmii and DownbeatXgmii.
    variable clocks {clk gmii_rx_clk gmii_gtx_clk xgmii_rx_clk xgmii_tx_clk external_clk}
    variable resets {reset slave core_reset master}

    # Neither interface, clock nor reset; * stands for anything.
    variable plain {
        now idle nextDeadline time_now link_up pps_in pps_out external_valid external_time
        interrupt gmii_rxd gmii_rx_dv gmii_rx_er gmii_txd gmii_tx_en gmii_tx_er xgmii_rxd xgmii_rxc
        xgmii_txd xgmii_txc trace_* counters_*
    }

    variable stream_signals {TVALID TREADY TDATA TKEEP TLAST TUSER TDEST}
    variable mapped_signals {
        AWID AWADDR AWLEN AWSIZE AWBURST AWPROT AWVALID AWREADY WDATA WSTRB WLAST WVALID WREADY BID BRESP BVALID BREADY
        ARID ARADDR ARLEN ARSIZE ARBURST ARPROT ARVALID ARREADY RID RDATA RRESP RLAST RVALID RREADY
    }
}
