// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import spinal.core._

/** Any module between registers, for `make fmax`: what nextpnr reports of it is then the module's own speed.
  *
  * Inputs come from a shift register that one pin feeds, outputs go to registers and through a registered tree of XOR4
  * to one pin. So the number of pins and the way to them do not count, nothing can be optimised away, and the harness's
  * own paths are a wire or one LUT long. The reset is registered too: the module's reset net counts.
  */
class FmaxHarness(makeModule: => Component) extends Component {
  val feed = in(Bool())
  val digest = out(Bool())

  private val held = ClockDomain(clockDomain.clock, reset = RegNext(clockDomain.readResetWire))
  private val module = held(makeModule).setName("dut")
  // A clock or reset that the module reads as a signal is connected already.
  private val (inputs, outputs) =
    module.getAllIo.toList.filter(port => port.isOutput || port.dlcIsEmpty).partition(_.isInput)

  /** No reset: it would be one more long net. */
  private val chain = Reg(Bits(inputs.map(widthOf(_)).sum bits))
  chain := (chain ## feed).resized
  inputs.foldLeft(0) { (from, input) =>
    input.assignFromBits(chain(from, widthOf(input) bits))
    from + widthOf(input)
  }

  private def folded(bits: Seq[Bool]): Bool =
    if (bits.size == 1) bits.head else folded(bits.grouped(4).map(four => RegNext(four.reduce(_ ^ _))).toSeq)
  digest := folded(outputs.flatMap(_.asBits.asBools).map(RegNext(_)))
}
