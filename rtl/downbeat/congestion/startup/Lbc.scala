// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Slow start that counts bytes (RFC 3465 2.2 with L = 2; LBC in Yu, thesis, 4.1): an ACK of two segments grows the
  * window by two.
  *
  * On an ACK of N new bytes while cwnd < ssthresh: cwnd += min(N, 2 SMSS). After a loss cwnd += min(N, SMSS): RFC 3465
  * 2.3 demands that after a timeout, the thesis after any loss.
  */
object Lbc extends StartupPolicy {
  val name = "lbc"
  override def state: Bundle = LbcState()

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    val before = stateBefore(LbcState())

    val limit = new s0.Area {
      val segment = event.segmentSize.resize(20)
      val growth = insert(before.lost ? segment | (segment |<< 1))
    }
    val slowStart = new SlowStart(pipe, atMost = Some(limit.growth))

    val result = Payload(PolicyResult(stateBits))
    new s3.Area {
      val after = LbcState()
      after.lost := event.kind =/= CongestionEventKind.established && (before.lost || event.isLoss)
      result.window := slowStart.windowAfter
      result.policyState := after.asBits
    }
  }.result

  private case class LbcState() extends Bundle {
    /** Something was lost. */
    val lost = Bool()
  }
}
