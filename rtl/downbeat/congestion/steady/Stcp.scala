// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Scalable TCP (Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", 2003).
  *
  * On an ACK of N new bytes while cwnd >= ssthresh: cwnd += a N, a = 0.01 as 655 / 65536. On a loss:
  * ssthresh = max(flight - floor(flight / 8), 2 SMSS). While cwnd <= 16 SMSS, Kelly's legacy window, the policy is
  * Reno.
  *
  * Departs from the paper: it counts bytes. Kelly adds 0.01 segment for an ACK, which is half of that if the receiver
  * acknowledges every second segment.
  */
object Stcp extends SteadyPolicy {
  val name = "stcp"
  override def state: Bundle = RenoState()
  /** a, 16 fraction bits. */
  private val increase = 655

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    val reno = Reno.build(pipe)

    // Products of 16 bits by 10: what a DSP block takes.
    val multiply = new s0.Area {
      val high = insert(event.ackedBytes(31 downto 16) * U(increase, 10 bits))
      val low = insert(event.ackedBytes(15 downto 0) * U(increase, 10 bits))
      val beyondLegacy = insert(Window.ofBytes(event.segmentSize << 4) < window.cwnd)
      val twoSegments = insert((event.segmentSize << 1).resize(32))
    }

    val subtract = new s1.Area {
      val earned = insert(((multiply.high @@ U(0, 16 bits)).resize(48) + multiply.low.resize(48)))
      val kept = insert(event.flight - (event.flight |>> 3))
    }

    val judge = new s2.Area {
      val cwnd = insert(window.cwnd + subtract.earned)
      val ssthresh = insert(Mux[UInt](subtract.kept < multiply.twoSegments, multiply.twoSegments, subtract.kept))
      val grows = insert(
        multiply.beyondLegacy && event.kind === CongestionEventKind.acknowledged && !event.startingUp)
      val loses = insert(multiply.beyondLegacy && event.isLoss)
    }

    val result = Payload(PolicyResult(stateBits))
    new s3.Area {
      result.window := reno.window
      result.policyState := reno.policyState
      when(judge.grows) {
        result.window.cwnd := judge.cwnd
        result.policyState := 0
      }
      when(judge.loses)(result.window.ssthresh := Window.ofBytes(judge.ssthresh))
    }
  }.result
}
