// SPDX-License-Identifier: BSD-2-Clause-Patent
// An SDRAM of single data rate, EM638325-6 if nothing else is said, as its datasheet has it: bursts of one word, no automatic precharge.
// CKE is high, CS and DQM are low. `broken` has a bit for each rule that a command was against, until the end of the simulation:
//   0 start-up: tPOW, all banks precharged, two refreshes, mode   1 a bank that is closed, or open already
//   2 tRCD   3 tRP   4 tRAS   5 tRC, tRFC   6 tWR   7 tRRD   8 refresh, 8 late at most   9 both sides drive   10 tMRD   11 a mode it has not
`timescale 1ns/1ps

module sdram (
  input  wire        clk,
  input  wire        ras_n,
  input  wire        cas_n,
  input  wire        we_n,
  input  wire [10:0] a,
  input  wire [1:0]  ba,
  input  wire [31:0] dq_write,
  input  wire        dq_drives,
  output reg  [31:0] dq_read,
  output reg  [11:0] broken,
  output reg  [31:0] refreshes
);
  parameter POWER_UP_NS = 200_000, RCD = 18, RP = 18, RAS = 42, RC = 60, RRD = 12, WRITE_CLOCKS = 2, MODE_CLOCKS = 2;
  parameter REFRESH_NS = 15_625; // 4,096 in 64 ms
  localparam COLUMN = 8;

  reg [31:0] words [0:(1 << 21) - 1];
  reg [3:0] open;
  reg [10:0] row [0:3];
  realtime activated [0:3], precharged [0:3], refreshed, anyActivated;
  integer sinceWrite [0:3], sinceMode, latency, refreshesFirst;
  reg moded, everPrecharged;
  reg [3:0] responses; // reads of a clock ago, two clocks ago, ...
  reg [31:0] pipe [0:3];
  wire [2:0] command = {ras_n, cas_n, we_n};
  wire [20:0] place = {row[ba], ba, a[COLUMN-1:0]};
  integer bank;

  initial begin
    broken = 0; refreshes = 0; open = 0; moded = 0; everPrecharged = 0; responses = 0; latency = 2; refreshesFirst = 0; sinceMode = 100;
    refreshed = -1000; anyActivated = -1000; dq_read = 0;
    for (bank = 0; bank < 4; bank = bank + 1) begin
      activated[bank] = -1000; precharged[bank] = -1000; sinceWrite[bank] = 100;
    end
  end

  task close(input [1:0] which);
    if (open[which]) begin
      if ($realtime - activated[which] < RAS) broken[4] = 1;
      if (sinceWrite[which] < WRITE_CLOCKS) broken[6] = 1;
      open[which] = 0;
      precharged[which] = $realtime;
    end
  endtask

  always @(posedge clk) begin
    sinceMode = sinceMode + 1;
    for (bank = 0; bank < 4; bank = bank + 1) sinceWrite[bank] = sinceWrite[bank] + 1;

    pipe[3] = pipe[2]; pipe[2] = pipe[1]; pipe[1] = pipe[0];
    responses = {responses[2:0], 1'b0};
    if (command != 7) begin
      if ($realtime < POWER_UP_NS || (!moded && (command == 3 || command[2:1] == 2))) broken[0] = 1;
      if (sinceMode < MODE_CLOCKS) broken[10] = 1;
    end
    case (command)
      0: begin  // mode
        if (open != 0) broken[1] = 1;
        if (!everPrecharged || refreshesFirst < 2) broken[0] = 1;
        latency = {29'd0, a[6:4]};
        if (a[3:0] != 0 || a[10:7] != 0 || ba != 0 || (latency != 2 && latency != 3)) broken[11] = 1;
        moded = 1;
        sinceMode = 0;
      end
      1: begin  // refresh
        if (open != 0) broken[1] = 1;
        for (bank = 0; bank < 4; bank = bank + 1) if ($realtime - precharged[bank] < RP) broken[3] = 1;
        if ($realtime - refreshed < RC) broken[5] = 1;
        if (!everPrecharged) broken[0] = 1;
        refreshed = $realtime;
        refreshes = refreshes + 1;
        refreshesFirst = refreshesFirst + 1;
      end
      2: begin  // precharge
        if (a[10]) begin
          for (bank = 0; bank < 4; bank = bank + 1) close(bank[1:0]);
          everPrecharged = 1;
        end else close(ba);
      end
      3: begin  // activate
        if (open[ba]) broken[1] = 1;
        if ($realtime - precharged[ba] < RP) broken[3] = 1;
        if ($realtime - activated[ba] < RC || $realtime - refreshed < RC) broken[5] = 1;
        if ($realtime - anyActivated < RRD) broken[7] = 1;
        open[ba] = 1;
        row[ba] = a;
        activated[ba] = $realtime;
        anyActivated = $realtime;
      end
      4, 5: begin  // write, read
        if (!open[ba]) broken[1] = 1;
        if ($realtime - activated[ba] < RCD) broken[2] = 1;
        if (a[10]) broken[11] = 1;
        if (command == 4) begin
          words[place] = dq_write;
          sinceWrite[ba] = 0;
          if (!dq_drives) broken[9] = 1;
        end else begin
          pipe[0] = words[place];
          responses[0] = 1;
        end
      end
      default: ;
    endcase
    if (dq_drives && responses[latency]) broken[9] = 1;
    if (moded && ($realtime - POWER_UP_NS) / REFRESH_NS > refreshes + 8) broken[8] = 1;
    dq_read <= responses[latency - 1] ? pipe[latency - 1] : ~dq_read; // there with the clock that is `latency` behind the command
  end
endmodule
