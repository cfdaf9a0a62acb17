// SPDX-License-Identifier: BSD-2-Clause-Patent
// A count that stops, as SpinalHDL would write it: what the mutants' own tests mutate (test_campaign.py).

module Saturate (
  input  wire          add,
  output wire [3:0]    total,
  output wire          full,
  output wire          half,
  input  wire          clk,
  input  wire          reset
);

  reg        [3:0]    count;

  assign full = (count == 4'b1000);
  assign half = (4'b0100 < count);
  assign total = count;
  always @(posedge clk) begin
    if(reset) begin
      count <= 4'b0000;
    end else begin
      if((add && (! full))) begin
        count <= (count + 4'b0001);
      end
    end
  end


endmodule
