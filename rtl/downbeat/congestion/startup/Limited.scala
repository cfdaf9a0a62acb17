// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The policy state of limited slow start, bytes. */
case class LimitedState() extends Bundle {
  val credit = UInt(32 bits)
  /** K SMSS: the credit that a segment of growth takes. */
  val price = UInt(32 bits)
  /** The window at which K goes up by one. */
  val bound = UInt(32 bits)
}

/** Limited slow start (RFC 3742) with the recommended max_ssthresh = 100 SMSS.
  *
  * On an ACK of N new bytes: while cwnd <= max_ssthresh as slow start. Above, cwnd += SMSS / K with
  * K = int(cwnd / (max_ssthresh / 2)), so about max_ssthresh / 2 in a round trip.
  *
  * Without a division: the policy state holds K SMSS and the window from which K is one more. credit += min(N, SMSS);
  * if credit >= K SMSS: credit -= K SMSS, cwnd += SMSS. K goes up by one at most for an event. It is 2 when the
  * connection is established and after a loss; then it takes some ACKs to reach a large window's K again.
  *
  * Departs from the RFC: whole segments after K ACKs instead of int(SMSS / K) bytes with each ACK; nothing is rounded
  * away.
  */
object Limited extends StartupPolicy {
  val name = "limited"
  override def state: Bundle = LimitedState()

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._

    val slowStart = new SlowStart(pipe)
    val before = stateBefore(LimitedState())

    val compare = new s0.Area {
      private val segment = event.segmentSize.resize(32)
      /** max_ssthresh / 2: 50 SMSS. */
      val half = insert((segment |<< 5) + (segment |<< 4) + (segment |<< 1))
      val rises = insert(window.cwnd(47 downto 16) >= before.bound)
      val whole = insert(event.ackedBytes >= segment)
    }

    val add = new s1.Area {
      import compare.half
      private val segment = event.segmentSize.resize(32)
      val price = insert(before.price + (compare.rises ? segment | U(0, 32 bits)))
      val bound = insert(before.bound + (compare.rises ? apply(half) | U(0, 32 bits)))
      val credit = insert(before.credit + Mux[UInt](compare.whole, segment, event.ackedBytes))
      val firstBound = insert(half + (half |<< 1))
      val below = insert(window.cwnd <= Window.ofBytes(half |<< 1))
    }

    val choose = new s2.Area {
      val remaining = insert((add.credit -^ add.price).asSInt)
      val cwnd = insert(window.cwnd + Window.ofBytes(event.segmentSize))
      val limits = insert(event.kind === CongestionEventKind.acknowledged && event.startingUp && !add.below)
      val begins = insert(event.kind === CongestionEventKind.established || event.isLoss)
    }

    val result = Payload(PolicyResult(stateBits))
    new s3.Area {
      val due = !choose.remaining.msb
      val after = CombInit[LimitedState](before).allowOverride()
      result.window := slowStart.windowAfter
      when(choose.limits) {
        result.window.cwnd := Mux[UInt](due, choose.cwnd, window.cwnd)
        after.bound := add.bound
        after.price := add.price
        after.credit := Mux[UInt](due, choose.remaining.asUInt.resize(32), add.credit)
      }
      when(choose.begins) {
        after.bound := add.firstBound
        after.price := event.segmentSize.resize(32) |<< 1
        after.credit := 0
      }
      result.policyState := after.asBits
    }
  }.result
}
