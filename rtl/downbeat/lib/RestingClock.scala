// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib

import spinal.core._

/** Gates the clock of a module that is idle, in Verilator only. For any other tool the gated clock is `clk`.
  *
  * Verilator evaluates neither the registers nor the logic of a module whose clock stands still. An idle module changes
  * nothing until an input changes, so the result is the same. The whole core's clock may stop for the same reason
  * (Downbeat.idle).
  */
class RestingClock extends BlackBox {
  val clk = in(Bool())
  /** Read while `clk` is low: the next rising edge is let through. */
  val awake = in(Bool())
  val clock = out(Bool())
  setInlineVerilog(
    """module RestingClock (
      |  input  wire clk,
      |  input  wire awake,
      |  output wire clock
      |);
      |`ifdef VERILATOR
      |  reg open; // the usual clock gate: a latch, so that what changes behind an edge makes no second one
      |  always_latch if (!clk) open = awake;
      |  assign clock = clk & open;
      |`else
      |  assign clock = clk;
      |`endif
      |endmodule
      |""".stripMargin)
}

object RestingClock {
  /** Clocks for which a module must have been idle: the longest chain of registers in a module that `idle` does not
    * cover.
    */
  private val idleClocks = 8

  /** The gated domain of the module that is being built, and the domain that always runs. Every gate hangs from the
    * latter, none from another gate: a simulation that has settled what follows the inputs (sim/device/core/model.h)
    * sees through one gate, not through two.
    */
  private case class Resting(domain: ClockDomain, always: ClockDomain)
  private val around = new ScopeProperty[Option[Resting]] { override def default: Option[Resting] = None }

  /** A gate for a part of `outer`. */
  private class Gate(outer: ClockDomain) extends Area {
    val always: ClockDomain = around.get.filter(_.domain == outer).fold(outer)(_.always)
    private val gate = new RestingClock
    gate.clk := always.readClockWire
    def awake: Bool = gate.awake
    val domain: ClockDomain =
      ClockDomain(gate.clock, outer.readResetWire, config = outer.config).setSynchronousWith(outer)
        .setSynchronousWith(always) // the relation is not followed over three domains
  }

  /** A module on a clock of its own. Each `valid` and `enable` among its inputs wakes it in the clock in which it is
    * true.
    */
  def apply[T <: Component](module: => T)(idle: T => Bool): T = {
    val domain = ClockDomain.current
    val gate = new Gate(domain)
    import gate.always
    val outer = around.set(Some(Resting(gate.domain, always)))
    val made = gate.domain(module)
    outer.restore()
    val requested = made.getAllIo.toSeq.collect {
      case bit: Bool if bit.isInput && Set("valid", "enable").contains(bit.getPartialName()) => bit
    }
    val busy = requested.reduce(_ || _) || !idle(made) || domain.readResetWire
    val before = always(RegInit(B(idleClocks bits, default -> true)))
    before := before(idleClocks - 2 downto 0) ## busy
    gate.awake := busy || before.orR
    made
  }

  /** A clock for registers that keep what they hold, and memories that are not written, while `awake` does not hold: no
    * register in it may have a reset, nor may any count.
    */
  def domain(awake: Bool): ClockDomain = {
    val gate = new Gate(ClockDomain.current)
    gate.awake := awake
    gate.domain
  }
}
