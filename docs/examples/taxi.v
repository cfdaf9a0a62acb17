// SPDX-License-Identifier: BSD-2-Clause-Patent
// The core's wire ports joined to `taxi_eth_mac_10g` of the taxi library: launches, stamps of arrival and departure.
// The MAC has DATA_W=64, PTP_TS_EN=1, PTP_TS_FMT_TOD=0; ID_W is 16, USER_W 1 to send and 65 received.
// `clk` is the core's and the MAC's tx_clk. `now` is the MAC's time there, in the core's form: ns in bits 63..16.
// Received frames cross from rx_clk in a taxi_axis_async_fifo before they come here.
module taxi #(
  // 2^-16 ns. LEAD: from the clock that finds a frame due to its SFD on XGMII in lane 0; SFD: from the MAC's stamp
  // to the SFD. Measured at 6.4 ns a clock: SFDs are 0 to 6.4 ns behind their launch, stamps exact.
  parameter [63:0] LEAD = 64'd2097152, RX_SFD = 64'd0, TX_SFD = 64'd838861
) (
  input  wire clk, reset,
  input  wire [63:0] now,
  // The core's.
  input  wire [63:0] m_axis_wire_tx_tdata, input wire [7:0] m_axis_wire_tx_tkeep, input wire m_axis_wire_tx_tvalid,
  input  wire m_axis_wire_tx_tlast, input wire [95:0] m_axis_wire_tx_tuser, output wire m_axis_wire_tx_tready,
  output wire [63:0] s_axis_wire_rx_tdata, output wire [7:0] s_axis_wire_rx_tkeep, output wire s_axis_wire_rx_tvalid,
  output wire s_axis_wire_rx_tlast, output wire [64:0] s_axis_wire_rx_tuser, input wire s_axis_wire_rx_tready,
  output wire s_axis_departure_tvalid, output wire [79:0] s_axis_departure_tdata,
  // The MAC's: s_axis_tx, m_axis_tx_cpl, m_axis_rx.
  output wire [63:0] tx_tdata, output wire [7:0] tx_tkeep, output wire tx_tvalid, tx_tlast, tx_tuser,
  output wire [15:0] tx_tid, input wire tx_tready,
  input  wire [63:0] tx_cpl_tdata, input wire [15:0] tx_cpl_tid, input wire tx_cpl_tvalid, output wire tx_cpl_tready,
  input  wire [63:0] rx_tdata, input wire [7:0] rx_tkeep, input wire rx_tvalid, rx_tlast, input wire [64:0] rx_tuser,
  output wire rx_tready
);
  // The MAC wants a frame without holes. So frames wait here until they are complete and due; they leave in order.
  reg [72:0] beats [0:1023];
  reg [81:0] launches [0:15]; // 63..0 launch time, 65..64 mode, 81..66 tag
  reg [10:0] written, read; // beats
  reg [4:0] complete, sent; // frames

  assign m_axis_wire_tx_tready = written - read != 11'd1024 && complete - sent != 5'd16;
  always @(posedge clk) begin
    if (reset) {written, complete} <= 16'd0;
    else if (m_axis_wire_tx_tvalid && m_axis_wire_tx_tready) begin
      written <= written + 11'd1;
      complete <= complete + {4'd0, m_axis_wire_tx_tlast};
      beats[written[9:0]] <= {m_axis_wire_tx_tlast, m_axis_wire_tx_tkeep, m_axis_wire_tx_tdata};
      launches[complete[3:0]] <= m_axis_wire_tx_tuser[81:0];
    end
  end

  wire [81:0] head = launches[sent[3:0]];
  wire [63:0] late = now + LEAD - head[63:0]; // two's complement
  wire taken = tx_tvalid && tx_tready;
  wire ends = taken && tx_tlast;
  wire [10:0] next = read + {10'd0, taken};
  reg due, sending;
  reg [72:0] beat; // at `read`
  always @(posedge clk) begin
    if (reset) {read, sent, due, sending} <= 18'd0;
    else begin
      read <= next;
      sent <= sent + {4'd0, ends};
      due <= complete != sent && !ends && (head[65:64] != 2'd0 || !late[63]);
      sending <= sending ? !ends : due;
    end
    beat <= beats[next[9:0]];
  end
  assign {tx_tlast, tx_tkeep, tx_tdata} = beat;
  assign {tx_tvalid, tx_tuser, tx_tid} = {sending, 1'b0, head[81:66]};

  assign s_axis_departure_tvalid = tx_cpl_tvalid && tx_cpl_tid != 16'd0;
  assign s_axis_departure_tdata = {tx_cpl_tdata + TX_SFD, tx_cpl_tid};
  assign tx_cpl_tready = 1'b1;

  assign {s_axis_wire_rx_tdata, s_axis_wire_rx_tkeep} = {rx_tdata, rx_tkeep};
  assign {s_axis_wire_rx_tvalid, s_axis_wire_rx_tlast, rx_tready} = {rx_tvalid, rx_tlast, s_axis_wire_rx_tready};
  assign s_axis_wire_rx_tuser = {rx_tuser[0], rx_tuser[64:1] + RX_SFD};
endmodule
