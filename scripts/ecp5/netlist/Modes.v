// SPDX-License-Identifier: BSD-2-Clause-Patent
// Memories and products that become each mode of DP16KD, its output registers too, and MULT18X18D: test_cells.py.
module Modes (
  input  wire          clk,
  input  wire          reset,
  input  wire          write,
  input  wire [1:0]    strobe,
  input  wire [13:0]   writeAddress,
  input  wire [35:0]   data,
  input  wire          read,
  input  wire [13:0]   readAddress,
  output reg  [35:0]   words,
  output reg  [17:0]   halves,
  output reg  [8:0]    bytes,
  output reg  [35:0]   kept,
  output reg  [8:0]    later,
  output reg  [3:0]    oldFirst,
  output reg  [1:0]    newFirst,
  output reg           unchanged,
  output reg  [35:0]   unsignedProduct,
  output reg  [35:0]   signedProduct
);
  // A port to write and one to read.
  (* ram_style = "block", no_rw_check *) reg [35:0] words_memory [0:511];
  (* ram_style = "block", no_rw_check *) reg [17:0] halves_memory [0:1023];
  (* ram_style = "block", no_rw_check *) reg [8:0] bytes_memory [0:2047];
  always @(posedge clk) begin
    if (write) words_memory[writeAddress[8:0]] <= data;
    if (read) words <= words_memory[readAddress[8:0]];
    if (write && strobe[0]) halves_memory[writeAddress[9:0]][8:0] <= data[8:0];
    if (write && strobe[1]) halves_memory[writeAddress[9:0]][17:9] <= data[17:9];
    if (read) halves <= halves_memory[readAddress[9:0]];
    if (write) bytes_memory[writeAddress[10:0]] <= data[8:0];
    if (read) bytes <= bytes_memory[readAddress[10:0]];
  end

  // A register behind, with an enable and without.
  (* ram_style = "block", no_rw_check *) reg [35:0] kept_memory [0:511];
  (* ram_style = "block", no_rw_check *) reg [8:0] later_memory [0:2047];
  reg [35:0] kept_word;
  reg [8:0] later_word;
  always @(posedge clk) begin
    if (write) kept_memory[writeAddress[8:0]] <= data;
    if (read) kept_word <= kept_memory[readAddress[8:0]];
    if (!strobe[1]) kept <= kept_word;
    if (write) later_memory[writeAddress[10:0]] <= data[8:0];
    if (read) later_word <= later_memory[readAddress[10:0]];
    later <= later_word;
  end

  // One port that does either; what it reads while it writes.
  (* ram_style = "block" *) reg [3:0] old_memory [0:4095];
  (* ram_style = "block" *) reg [1:0] new_memory [0:8191];
  (* ram_style = "block" *) reg unchanged_memory [0:16383];
  always @(posedge clk) begin
    if (read) begin
      oldFirst <= old_memory[readAddress[11:0]];
      if (write) old_memory[readAddress[11:0]] <= data[3:0];
      newFirst <= write ? data[1:0] : new_memory[readAddress[12:0]];
      if (write) new_memory[readAddress[12:0]] <= data[1:0];
      if (write) unchanged_memory[readAddress] <= data[0];
      else unchanged <= unchanged_memory[readAddress];
    end
  end

  always @(posedge clk) begin
    unsignedProduct <= data[17:0] * data[35:18];
    signedProduct <= $signed(data[17:0]) * $signed(data[35:18]);
  end
endmodule
