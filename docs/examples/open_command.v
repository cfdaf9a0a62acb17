// SPDX-License-Identifier: BSD-2-Clause-Patent
// A beat of s_axis_command that opens a connection. The notification with its `request` names the flow, which is TDEST
// of s_axis_tx, or says why there is no connection.
module open_command #(
  // DOWNBEAT_COMMAND_..._OFFSET of the build's downbeat_layout.h; here those of the preset `default`.
  parameter BITS = 640, REQUEST = 4, REMOTE_IP = 72, REMOTE_PORT = 104,
  parameter PARAMETERS_INITIAL_WINDOW = 131, PARAMETERS_SSTHRESH = 139
) (
  input  wire [15:0]     request,
  input  wire [31:0]     ip, input wire [15:0] port, // 10.0.0.2 is 32'h0a000002
  output reg  [BITS-1:0] tdata
);
  always @* begin
    tdata = {BITS{1'b0}}; // kind 0: open; local port 0: ephemeral; policies 0 and 0: the build's first; options off
    tdata[REQUEST +: 16] = request;
    tdata[REMOTE_IP +: 32] = ip;
    tdata[REMOTE_PORT +: 16] = port;
    tdata[PARAMETERS_INITIAL_WINDOW +: 8] = 8'd10; // segments
    tdata[PARAMETERS_SSTHRESH +: 32] = 32'h4000_0000; // bytes
  end
endmodule
