// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The policy state of SSIPP. */
case class SsippState() extends Bundle {
  /** The first segment has gone. */
  val begun = Bool()
  /** There was a loss, and no timeout behind it. */
  val lost = Bool()
  /** Bytes that have grown the window and are not acknowledged yet. */
  val ahead = UInt(16 bits)
}

/** SSIPP: slow start with inverted packet pairs (Yu, thesis, Algorithms 1 and 2).
  *
  * A receiver that delays ACKs acknowledges at once what is out of order and what fills a hole. A pair sent in the
  * order n + 1, n gets two ACKs, so the window doubles in each round trip as if no ACK were delayed.
  *
  * On an ACK of N new bytes: cwnd += min(N, SMSS). On the ACK of a pair's first half (`paired`): cwnd += SMSS, and the
  * next SMSS bytes that are acknowledged add nothing. So the two ACKs of a pair add two segments, also at a receiver
  * that divides its ACKs. The first segment goes alone. All others go in inverted pairs while cwnd < ssthresh, until
  * a loss; a timeout begins slow start, and with it the pairs, again (pp. 50 and 55). A pair needs two full segments of
  * data and the peer's window for both, but cwnd for one only: the second half may follow with the next ACK.
  *
  * Departs from the thesis: what is sent again after a timeout goes in order. Segments that limited transmit sends go
  * in pairs as well. An ACK of less than a segment grows the window by what it covers (ns-2 counts ACKs).
  */
object Ssipp extends StartupPolicy {
  val name = "ssipp"
  override def state: Bundle = SsippState()
  override val paces = true

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._

    val slowStart = new SlowStart(pipe)
    val before = stateBefore(SsippState())

    val subtract = new s0.Area {
      val segment = insert(event.segmentSize.resize(32))
      /** Acknowledged bytes that have not grown the window, and bytes that stay ahead. */
      val uncounted = insert((event.ackedBytes -^ before.ahead.resize(32)).asSInt)
      val left = insert((before.ahead.resize(32) -^ event.ackedBytes).asSInt)
    }

    val compare = new s1.Area {
      val counted = insert(subtract.uncounted.msb ? U(0, 32 bits) | subtract.uncounted.asUInt.resize(32))
      val paired = insert(event.kind === CongestionEventKind.paired)
      val whole = insert(paired || !(subtract.uncounted < subtract.segment.resize(33).asSInt))
      val grows = insert(paired || event.kind === CongestionEventKind.acknowledged)
    }

    val add = new s2.Area {
      val cwnd = insert(window.cwnd + Window.ofBytes(Mux[UInt](compare.whole, subtract.segment, compare.counted)))
    }

    val result = Payload(PolicyResult(stateBits, paces))
    new s3.Area {
      val opens = event.kind === CongestionEventKind.established
      val after = SsippState()
      after.begun := !opens && (before.begun || event.kind === CongestionEventKind.sent)
      after.lost := event.kind === CongestionEventKind.loss ||
        before.lost && !opens && event.kind =/= CongestionEventKind.timeout
      after.ahead := before.ahead
      when(event.kind === CongestionEventKind.acknowledged) {
        after.ahead := subtract.left.msb ? U(0, 16 bits) | subtract.left.asUInt.resize(16)
      }
      when(compare.paired && event.startingUp)(after.ahead := subtract.segment.resized)
      when(opens || event.isLoss)(after.ahead := 0)

      result.window := slowStart.windowAfter
      when(compare.grows)(result.window.cwnd := add.cwnd)
      result.policyState := after.asBits
      result.departure := DeparturePlan.configured
      result.departure.inverted.allowOverride() := after.begun && !after.lost && event.startingUp
    }
  }.result
}
