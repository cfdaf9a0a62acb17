// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.pipeline

import spinal.core._

/** Whether a data register that carries nothing valid may stand still: true in simulation, false in synthesis.
  *
  * A simulator is faster when idle registers do not move. In an FPGA the same condition is a clock enable for a
  * thousand registers of a node, and those nets were the slowest of all (15 ns after routing). What such a register
  * holds while nothing is valid is never looked at, so both are the same circuit to an observer; synthesis programs
  * define SYNTHESIS, simulators do not.
  */
class IdleStandsStill extends BlackBox {
  val standsStill = out(Bool())
  setInlineVerilog(
    """module IdleStandsStill (
      |  output wire standsStill
      |);
      |`ifdef SYNTHESIS
      |  assign standsStill = 1'b0;
      |`else
      |  assign standsStill = 1'b1;
      |`endif
      |endmodule
      |""".stripMargin)
}
