// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** AIMD(a, b) (Kannan, thesis, 2.1.2; Yang and Lam 2000): a segments more for each acknowledged window, and a loss
  * removes the share b. AIMD(1, 0.5) is Reno, bit for bit.
  *
  * Argument: a in bits 23..0, 16 of them fraction bits; b in bits 39..24, all fraction bits. All zeros is (1, 0.5).
  *
  * Growth is [[AdditiveIncrease]]'s while cwnd >= ssthresh. A loss leaves what [[MultiplicativeDecrease]] says, and no
  * credit; a restart takes the credit too.
  */
object Aimd extends SteadyPolicy {
  val name = "aimd"
  override def state: Bundle = AimdState()
  private val increaseBits = 24
  private val decreaseBits = 16
  import AdditiveIncrease.creditBits
  override val arguments: Arguments = Arguments(Seq(
      Argument("a", increaseBits, fraction = 16, min = 1, default = 1 << 16),
      Argument("b", decreaseBits, fraction = 16, default = 1 << 15)))

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    val before = stateBefore(AimdState())
    val argument = new s0.Area {
      val a = insert(before.a)
      val b = insert(before.b)
    }
    val increase = new AdditiveIncrease(pipe, argument.a, before)
    val decrease = new MultiplicativeDecrease(pipe, argument.b)

    val judge = new s2.Area {
      val opens = insert(event.kind === CongestionEventKind.established)
      val grows = insert(event.kind === CongestionEventKind.acknowledged && !event.startingUp)
      val loses = insert(event.isLoss)
      val restarts = insert(event.kind === CongestionEventKind.restart)
      val noArgument = insert(!(before.b ## before.a).orR)
    }

    val result = Payload(PolicyResult(stateBits))
    new s3.Area {
      val after = CombInit[AimdState](before).allowOverride()
      result.window := window
      when(judge.opens) {
        after.credit := 0
        when(judge.noArgument) {
          after.a := 1 << 16
          after.b := 1 << 15
        }
      }
      when(judge.grows) {
        result.window.cwnd := increase.cwndAfter
        after.credit := increase.creditAfter
      }
      when(judge.loses) {
        result.window.ssthresh := decrease.ssthresh
        after.credit := 0
      }
      when(judge.restarts)(after.credit := 0)
      result.policyState := after.asBits
    }
  }.result

  private case class AimdState() extends Bundle with CreditState {
    /** The argument: a and b, with 16 fraction bits. */
    val a = UInt(increaseBits bits)
    val b = UInt(decreaseBits bits)
    val credit = UInt(creditBits bits)
  }
}
