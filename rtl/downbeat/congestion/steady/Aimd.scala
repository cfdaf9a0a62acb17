// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** AIMD(a, b) (Kannan, thesis, 2.1.2; Yang and Lam 2000): a segments more for each window that is acknowledged, a loss removes the share b.
  * Reno is (1, 0.5), bit for bit.
  *
  * Argument: a in bits 23..0, 16 of them fraction bits; b in bits 39..24, all fraction bits. All zeros is (1, 0.5).
  *
  * Growth is [[AdditiveIncrease]]'s while cwnd >= ssthresh. A loss leaves what [[MultiplicativeDecrease]] says, and no credit.
  */
object Aimd extends SteadyPolicy {
  val name = "aimd"
  private val increaseBits = 24
  private val decreaseBits = 16
  import AdditiveIncrease.creditBits
  override val arguments: Arguments = Arguments(Seq(
    Argument("a", increaseBits, fraction = 16, least = 1, usual = 1 << 16),
    Argument("b", decreaseBits, fraction = 16, usual = 1 << 15)))
  /** The argument, and the credit: bytes with 16 fraction bits. */
  val stateBits: Int = argumentBits + creditBits
  private val renoArgument = (BigInt(1) << 15 << increaseBits) + (BigInt(1) << 16)

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(multiply, _, compare, answer) = pipe.nodes
    def argument(node: Node): Bits = node(pipe.policyState)(argumentBits - 1 downto 0)
    def credit(node: Node): UInt = node(pipe.policyState)(argumentBits, creditBits bits).asUInt

    val increase = new AdditiveIncrease(pipe, argument(multiply)(increaseBits - 1 downto 0).asUInt, credit)
    val decrease = new MultiplicativeDecrease(pipe, argument(multiply)(increaseBits, decreaseBits bits).asUInt)
    val kind = compare(pipe.event).kind
    val opens = compare.insert(kind === CongestionEventKind.established)
    val grows = compare.insert(kind === CongestionEventKind.acknowledged && !compare(pipe.event).startingUp)
    val loses = compare.insert(kind === CongestionEventKind.loss || kind === CongestionEventKind.timeout)
    val untold = compare.insert(!argument(compare).orR)

    val result = Payload(PolicyAnswer(stateBits))
    answer(result).window := answer(pipe.window)
    answer(result).policyState := answer(pipe.policyState)
    when(answer(opens)) {
      answer(result).policyState := B(0, creditBits bits) ## (answer(untold) ? B(renoArgument, argumentBits bits) | argument(answer))
    }
    when(answer(grows)) {
      answer(result).window.cwnd := increase.cwnd
      answer(result).policyState := increase.creditAfter ## argument(answer)
    }
    when(answer(loses)) {
      answer(result).window.ssthresh := decrease.ssthresh
      answer(result).policyState := B(0, creditBits bits) ## argument(answer)
    }
    result
  }
}
