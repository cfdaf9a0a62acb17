// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.GapWindow
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The policy state of Hoe. */
case class HoeState() extends PairingState {
  /** y0: the gap between the ACKs of the first pair, ns; zero: not known. */
  val gap = UInt(36 bits)
  /** R: the round trip of the first segment of that pair, ns; zero: none yet. */
  val roundTrip = UInt(36 bits)
  /** The estimate is made, or something was lost. */
  val over = Bool()
}

/** Hoe's estimate of ssthresh by packet pair (Hoe, "Improving the start-up behavior of a congestion control scheme for
  * TCP", 1996).
  *
  * The first two segments leave back to back and their ACKs arrive y0 apart. The bottleneck sends a segment in y0, so
  * ssthresh = floor(R / y0) segments fill the path, R the round trip of the first of the two. The estimate is made once
  * in a connection; otherwise the window grows by standard slow start. If a pair gives no estimate (y0 = 0, one ACK for
  * both, an ACK between) the next pair is tried, four in all. After four, or after a loss, ssthresh stays as it is.
  *
  * Argument: 1 sends pairs inverted, for a receiver that delays ACKs. Zero is as in the paper, where such a receiver
  * gives no estimate. If the initial window is one segment, that one goes alone.
  */
object Hoe extends StartupPolicy {
  val name = "hoe"
  override val arguments: Arguments = Arguments(Seq(Argument("inverted", 1)))
  override def state: Bundle = HoeState()
  override val paces = true
  override val calculator: Option[Calculator] = Some(GapWindow)

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    val slowStart = new SlowStart(pipe)
    val before = stateBefore(HoeState())
    val pairs = new PacketPairs(pipe, before)

    val judge = new s2.Area {
      private val known = before.gap.orR
      val unknown = insert(!known)
      val opens = insert(event.kind === CongestionEventKind.established)
      val estimates = insert(event.kind === CongestionEventKind.calculated && calculated.ofStartup)
      val over = insert(event.isLoss || estimates || before.over && event.kind =/= CongestionEventKind.established)
      val requests = insert(known && before.roundTrip.orR && !before.over && !calculating)
    }

    val result = Payload(PolicyResult(stateBits, paces, requestBits))
    new s3.Area {
      val after = CombInit[HoeState](before).allowOverride()
      after.pairs := pairs.after
      when(judge.unknown) {
        when(event.rttValid)(after.roundTrip := event.rtt)
        when(pairs.measured && pairs.hasGap)(after.gap := event.probe.arrivalGap)
      }
      when(judge.opens) {
        after.gap := 0
        after.roundTrip := 0
      }
      after.over := judge.over
      result.policyState := after.asBits

      result.window := slowStart.windowAfter
      when(judge.estimates) {
        result.window.ssthresh := Window.ofBytes(calculated.response(GapWindow.responseBits - 1 downto 0).asUInt)
      }
      val tries = after.pairs.ready && after.pairs.left.orR && judge.unknown && !judge.over
      result.departure := pairs.departure(active = tries, pause = U(0), gap = U(0), apart = False)
      result.calculation.assign(judge.requests, GapWindow.request(before.gap, before.roundTrip, event.segmentSize))
    }
  }.result
}
