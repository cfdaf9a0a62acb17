// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Slow start that counts bytes (RFC 3465 2.2 with L = 2; LBC in Yu, thesis, 4.1): an ACK of two segments grows the window by two.
  *
  * On an ACK of N new bytes while cwnd < ssthresh: cwnd += min(N, 2 SMSS); once something was lost cwnd += min(N, SMSS), as RFC 3465 2.3
  * demands after a timeout and the thesis after any loss.
  */
object Lbc extends StartupPolicy {
  val name = "lbc"
  /** Something was lost. */
  val stateBits = 1

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val first = pipe.first
    val segment = first(pipe.event).segmentSize.resize(20)
    val slowStart = new SlowStart(pipe, atMost = Some(first(pipe.policyState)(0) ? segment | (segment |<< 1)))

    val kind = pipe.last(pipe.event).kind
    val loses = kind === CongestionEventKind.loss || kind === CongestionEventKind.timeout
    val lost = kind =/= CongestionEventKind.established && (pipe.last(pipe.policyState)(0) || loses)

    val result = Payload(PolicyAnswer(stateBits))
    pipe.last(result).window := slowStart.window
    pipe.last(result).policyState := lost.asBits
    result
  }
}
