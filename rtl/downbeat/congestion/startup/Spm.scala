// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.{GapFit, GapFitResponse, GapFitRequest}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The policy state of SPM. The samples are in the unit of [[GapFit]]. */
case class SpmState() extends PairingState {
  /** y0, ns; zero: not known. */
  val firstGap = UInt(36 bits)
  /** Between the first segments of two pairs, ns. */
  val spacing = UInt(36 bits)
  /** The input gap of the pair that goes next, or goes now. */
  val index = UInt(2 bits)
  /** Samples that count, at most 12. */
  val count = UInt(4 bits)
  /** The unit has forgotten the samples of the flow's last connection. */
  val begun = Bool()
  /** The estimate is made, or there will be none. */
  val over = Bool()
  val lost = Bool()

  /** The unit has the sample of the latest pair; `response` has the new spacing. */
  def addSample(before: SpmState, response: GapFitResponse): Unit = {
    begun := True
    spacing := response.value
    when(response.holds && before.count =/= Spm.samples)(count := before.count + 1)
  }
}

/** SPM: slow start with packet-pair measurements (Yu, thesis, 4.2 to 4.4).
  *
  * ssthresh = 32 segments at the opening. The first pair leaves back to back and its ACKs arrive y0 apart, as Hoe's.
  * The following pairs have the input gaps {y0, 1.5 y0, 2 y0, 4 y0} in turn. Their first segments leave 2 R / cwnd
  * apart, so that a window spreads over a round trip. A pair that is due before the second segment of the pair before
  * follows that segment at once. The stamps at the wire give the gap that left and the gap that came out.
  *
  * The estimate is made when cwnd has reached ssthresh and 12 samples are there: ssthresh = R / d, R the smallest round
  * trip. Until then the steady policy grows the window. Without an estimate ssthresh stays. A loss ends the
  * measurement. The window grows by min(N, 2 SMSS), by min(N, SMSS) after a loss (lbc).
  *
  * Argument: 1 sends pairs inverted, for a receiver that delays ACKs. The ACK of the first half then does not grow the
  * window.
  *
  * Departs from the thesis: a pair's output gap is at least its input gap less what the stamps may differ, and where
  * no gap is free all samples count. x is the measured gap. At most 16 samples of a gap count. A pair that left with a
  * gap wrong by a sixteenth does not count. The pauses follow the window from one sample to the next.
  */
object Spm extends StartupPolicy {
  val name = "spm"
  override val arguments: Arguments = Arguments(Seq(Argument("inverted", 1)))
  override def state: Bundle = SpmState()
  override val paces = true
  override val calculator: Option[Calculator] = Some(GapFit)
  /** Samples that make an estimate. */
  val samples = 12

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    val before = stateBefore(SpmState())
    val pairs = new PacketPairs(pipe, before)

    val gaps = new SpmGaps(pipe, before, pairs)
    val limit = new s0.Area {
      private val segment = event.segmentSize.resize(20)
      val growth = insert(before.lost ? segment | (segment |<< 1))
    }
    val slowStart = new SlowStart(pipe, atMost = Some(limit.growth))

    val judge = new s2.Area {
      private val known = before.firstGap.orR
      private val responds = event.kind === CongestionEventKind.calculated && calculated.ofStartup
      private val complete = before.count === samples && before.begun && !event.startingUp
      val unknown = insert(!known)
      /** The estimate is due. */
      val due = insert(complete)
      val requests = insert(
        known && !event.rttMinimum.andR && !before.over && !calculating && (pairs.ended || !before.begun || complete))
      val opens = insert(event.kind === CongestionEventKind.established)
      val loses = insert(event.isLoss)
      val estimates = insert(responds && calculated.note.lsb)
      val addsSample = insert(responds && !calculated.note.lsb)
      val over = insert(
        event.isLoss || responds && calculated.note.lsb ||
          before.over && event.kind =/= CongestionEventKind.established)
      val learns = insert(pairs.measured && pairs.hasGap && !known)
      val advances = insert(pairs.completes && known)
    }

    val result = Payload(PolicyResult(stateBits, paces, requestBits))
    new s3.Area {
      private val response = calculated.response.resize(GapFit.responseBits).as(GapFitResponse())
      val after = CombInit[SpmState](before).allowOverride()
      result.window := slowStart.windowAfter
      after.pairs := pairs.after
      when(judge.advances)(after.index := before.index + 1)
      when(judge.learns)(after.firstGap := event.probe.arrivalGap)
      when(judge.opens) {
        after.assignFromBits(before.inverted.asBits.resize(stateBits))
        after.pairs := pairs.after
        result.window.ssthresh := Window.ofBytes(event.segmentSize << 5)
      }
      when(judge.loses)(after.lost := True)
      after.over := judge.over
      when(judge.estimates && response.holds)(result.window.ssthresh := Window.ofBytes(response.value.resize(32)))
      when(judge.addsSample)(after.addSample(before, response))
      result.policyState := after.asBits

      val active = after.pairs.ready && !judge.over && (!judge.unknown || after.pairs.left.orR)
      result.departure := pairs.departure(active, pause = gaps.pause << 15, gap = gaps.own << 15,
        apart = !judge.unknown)
    }

    new s3.Area {
      val request = GapFitRequest()
      request.firstGap := before.firstGap
      request.departureGap := event.probe.departureGap
      request.arrivalGap := event.probe.arrivalGap
      request.roundTrip := event.rttMinimum
      request.cwnd := window.cwnd(47 downto 16)
      request.segmentSize := event.segmentSize
      request.begins := !before.begun
      request.sampled := pairs.measured
      request.estimates := judge.due
      result.calculation.assign(judge.requests, request, note = judge.due.asBits.resize(Calculation.noteBits))
    }
  }.result
}

/** Input gaps of pairs, y0 {2, 3, 4, 8} half ns in turn, and the pauses between pairs. */
private class SpmGaps(pipe: PolicyPipe, before: Payload[SpmState], pairs: PacketPairs[SpmState]) extends Area {
  import pipe._

  private val multiply = new s0.Area {
    private val y0 = before.firstGap
    private val all =
      Vec((y0 << 1).resize(40), ((y0 << 1) +^ y0).resize(40), (y0 << 2).resize(40), (y0 << 3).resize(40))
    val own = insert(all(before.index))
    val former = insert(all(before.index - 1))
  }
  private val subtract = new s1.Area {
    private def pause(gap: UInt) = insert((before.spacing << 1).resize(41).asSInt - gap.resize(41).asSInt)
    val own = pause(multiply.own)
    val former = pause(multiply.former)
  }
  private val choose = new s2.Area {
    private val rest = Mux[SInt](pairs.completes, subtract.own, subtract.former)
    val pause = insert(rest.msb ? U(0, 40 bits) | rest.asUInt.resize(40))
  }
  /** The input gap of this pair, half ns. */
  val own: Payload[UInt] = multiply.own
  /** From the end of the latest pair to the next one, half ns. From the third node on. */
  val pause: Payload[UInt] = choose.pause
}
