// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The policy state of Reno. */
case class RenoState() extends Bundle {
  /** Bytes acknowledged and not yet turned into window. */
  val credit = UInt(32 bits)
}

/** Reno (RFC 5681), congestion avoidance by byte counting (RFC 3465, its `bytes_acked`) without a division.
  *
  * On an ACK of N new bytes while cwnd >= ssthresh: credit += N; if credit >= cwnd: credit -= cwnd, cwnd += SMSS. An
  * event adds one segment at most. The rest stays in the credit, so that no acknowledged byte is forgotten. On a loss:
  * ssthresh = max(flight / 2, 2 SMSS) (RFC 5681 equation 4) and credit = 0. A restart takes the credit too: what was
  * earned before the idle time does not grow the restart window (RFC 5681 4.1).
  */
object Reno extends SteadyPolicy {
  val name = "reno"
  override def state: Bundle = RenoState()

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._

    val add = new s0.Area {
      val credit = insert(policyState.asUInt + event.ackedBytes)
      val halfFlight = insert(event.flight(31 downto 1))
      val twoSegments = insert(event.segmentSize << 1)
    }

    val compare = new s1.Area {
      // cwnd is a whole number of bytes here: a fraction makes the credit due one byte later.
      val remaining = insert((add.credit -^ window.cwnd(47 downto 16)).asSInt)
      val floorHolds = insert(add.halfFlight < add.twoSegments)
    }

    val choose = new s2.Area {
      val begins = insert(
        event.kind === CongestionEventKind.established || event.kind === CongestionEventKind.restart)
      val grows = insert(event.kind === CongestionEventKind.acknowledged && !event.startingUp)
      val loses = insert(event.kind === CongestionEventKind.loss || event.kind === CongestionEventKind.timeout)
      val due = insert(!compare.remaining.msb)
      val credit = insert(Mux[UInt](compare.remaining.msb, add.credit, compare.remaining.asUInt.resize(32)))
      val cwnd = insert(window.cwnd + Window.ofBytes(event.segmentSize))
      val ssthresh = insert(compare.floorHolds ? add.twoSegments.resize(32) | add.halfFlight.resize(32))
    }

    val result = Payload(PolicyResult(stateBits))
    new s3.Area {
      result.window := window
      result.policyState := policyState
      when(choose.begins) {
        result.policyState := 0
      }
      when(choose.grows) {
        when(choose.due)(result.window.cwnd := choose.cwnd)
        result.policyState := choose.credit.asBits
      }
      when(choose.loses) {
        result.window.ssthresh := Window.ofBytes(choose.ssthresh)
        result.policyState := 0
      }
    }
  }.result
}
