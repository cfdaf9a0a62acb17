// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import spinal.core._

/** A pin that brings a bit with each edge of a clock. The bits of a rising edge and of the falling edge behind it come
  * out together, with the next rising edge.
  *
  * ECP5: DELAYG and IDDRX1F. Elsewhere (no SYNTHESIS defined) a model of them, without the delay.
  *
  * @param taps delay of the pin, 25 ps each
  */
class DoubleDataInput(taps: Int) extends BlackBox {
  addGeneric("TAPS", taps)
  val clk, pin = in(Bool())
  val rising, falling = out(Bool())
  setInlineVerilog(
    """module DoubleDataInput #(parameter TAPS = 0) (
      |  input  wire clk,
      |  input  wire pin,
      |  output wire rising,
      |  output wire falling
      |);
      |`ifdef SYNTHESIS
      |  wire late;
      |  DELAYG #(.DEL_MODE("USER_DEFINED"), .DEL_VALUE(TAPS)) delay (.A(pin), .Z(late));
      |  IDDRX1F ddr (.SCLK(clk), .RST(1'b0), .D(late), .Q0(rising), .Q1(falling));
      |`else
      |  reg atRising, atFalling, first, second;
      |  always @(negedge clk) atFalling <= pin;
      |  always @(posedge clk) begin
      |    atRising <= pin;
      |    first <= atRising;
      |    second <= atFalling;
      |  end
      |  assign rising = first;
      |  assign falling = second;
      |`endif
      |endmodule
      |""".stripMargin)
}

/** A pin that takes a bit with each edge of a clock: `first` from a rising edge on, `second` from the falling one.
  *
  * ECP5: ODDRX1F and DELAYG; elsewhere a model.
  */
class DoubleDataOutput(taps: Int) extends BlackBox {
  addGeneric("TAPS", taps)
  val clk, first, second = in(Bool())
  val pin = out(Bool())
  setInlineVerilog(
    """module DoubleDataOutput #(parameter TAPS = 0) (
      |  input  wire clk,
      |  input  wire first,
      |  input  wire second,
      |  output wire pin
      |);
      |`ifdef SYNTHESIS
      |  wire early;
      |  ODDRX1F ddr (.SCLK(clk), .RST(1'b0), .D0(first), .D1(second), .Q(early));
      |  DELAYG #(.DEL_MODE("USER_DEFINED"), .DEL_VALUE(TAPS)) delay (.A(early), .Z(pin));
      |`else
      |  reg high, low;
      |  always @(posedge clk) begin
      |    high <= first;
      |    low <= second;
      |  end
      |  assign pin = clk ? high : low;
      |`endif
      |endmodule
      |""".stripMargin)
}

object DoubleDataInput {
  /** Bits of rising and of falling edges. */
  def apply(clock: Bool, pin: Bool, taps: Int): (Bool, Bool) = {
    val input = new DoubleDataInput(taps)
    input.clk := clock
    input.pin := pin
    (input.rising, input.falling)
  }
}

object DoubleDataOutput {
  def apply(clock: Bool, first: Bool, second: Bool, taps: Int = 0): Bool = {
    val output = new DoubleDataOutput(taps)
    output.clk := clock
    output.first := first
    output.second := second
    output.pin
  }
}
