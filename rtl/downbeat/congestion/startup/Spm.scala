// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.{GapFit, GapFitResponse, GapFitRequest}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** What SPM keeps: 87 bits; the samples are [[GapFit]]'s. */
case class SpmState() extends Bundle {
  /** The argument: pairs are inverted. */
  val inverted = Bool()
  val pairs = PacketPairsState()
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
  /** The estimate is made, or there will be none; something was lost. */
  val over, lost = Bool()
}

/** SPM: slow start with packet-pair measurements (Yu, thesis, 4.2 to 4.4).
  *
  * ssthresh = 32 segments. The first pair leaves back to back and its ACKs arrive y0 apart, as Hoe's. Then segments go in pairs with input
  * gaps {y0, 1.5 y0, 2 y0, 4 y0} in turn, their first ones 2 R / cwnd apart, so that a window spreads over a round trip; a pair that is due
  * before the last one's second goes right behind it. What comes out is compared with what left, as the stamps at the wire have both.
  * Once cwnd has reached ssthresh and 12 samples are there the estimate is made: ssthresh = R / d, R the smallest round trip. While samples
  * are missing the window grows by the steady policy. No estimate leaves ssthresh alone, a loss ends it all. The window grows by
  * min(N, 2 SMSS), min(N, SMSS) after a loss (lbc).
  *
  * Argument: 1 sends pairs inverted, for a receiver that delays ACKs; the first half's ACK then does not grow the window.
  *
  * Departs from the thesis: x is the measured gap; 16 samples of a gap at most; a pair that left with a gap wrong by a sixteenth does not
  * count (the thesis has neither). The pauses follow the window from one sample to the next.
  */
object Spm extends StartupPolicy {
  val name = "spm"
  override val arguments: Arguments = Arguments(Seq(Argument("inverted", 1)))
  val stateBits = 87
  override val comparesRoundTrips = true
  override val paces = true
  override val calculator: Option[Calculator] = Some(GapFit)
  private val samples = 12

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(compare, add, choose, answer) = pipe.nodes
    def past(node: Node): SpmState = node(pipe.policyState).as(SpmState())

    val segment = compare(pipe.event).segmentSize.resize(20)
    val slowStart = new SlowStart(pipe, atMost = Some(past(compare).lost ? segment | (segment |<< 1)))

    // Gaps in half ns: y0 {2, 3, 4, 8}, that of this pair and of the one before it.
    val y0 = past(compare).firstGap
    val gaps = Vec((y0 << 1).resize(40), ((y0 << 1) +^ y0).resize(40), (y0 << 2).resize(40), (y0 << 3).resize(40))
    val own = compare.insert(gaps(past(compare).index))
    val former = compare.insert(gaps(past(compare).index - 1))
    def behind(gap: Payload[UInt]): Payload[SInt] = add.insert((past(add).spacing << 1).resize(41).asSInt - add(gap).resize(41).asSInt)
    val behindOwn = behind(own)
    val behindFormer = behind(former)

    val known = past(choose).firstGap.orR
    val unknown = choose.insert(!known)
    val pairs = new PacketPairs(pipe, past(choose).pairs, past(choose).inverted)
    val pause = choose.insert {
      val rest = choose(pairs.completes) ? choose(behindOwn) | choose(behindFormer)
      rest.msb ? U(0, 40 bits) | rest.asUInt.resize(40)
    }
    val isDue = past(choose).count === samples && past(choose).begun && !choose(pipe.event).startingUp
    val due = choose.insert(isDue)
    val asks = choose.insert(
      known && !choose(pipe.event).rttMinimum.andR && !past(choose).over && !choose(pipe.calculating) &&
        (choose(pairs.ended) || !past(choose).begun || isDue))

    // What the event is.
    val kind = choose(pipe.event).kind
    val opens = choose.insert(kind === CongestionEventKind.established)
    val losing = kind === CongestionEventKind.loss || kind === CongestionEventKind.timeout
    val loses = choose.insert(losing)
    val told = kind === CongestionEventKind.calculated && choose(pipe.calculated).ofStartup
    val estimates = choose.insert(told && choose(pipe.calculated).note.lsb)
    val samplesOne = choose.insert(told && !choose(pipe.calculated).note.lsb)
    val over = choose.insert(
      losing || told && choose(pipe.calculated).note.lsb || past(choose).over && kind =/= CongestionEventKind.established)
    val learns = choose.insert(choose(pairs.measured) && choose(pairs.tells) && !known)
    val advances = choose.insert(choose(pairs.completes) && known)

    val event = answer(pipe.event)
    val calculated = answer(pipe.calculated).response.resize(GapFit.responseBits).as(GapFitResponse())
    val next = CombInit(past(answer)).allowOverride()
    val window = CombInit(slowStart.window).allowOverride()
    next.pairs := answer(pairs.after)
    when(answer(advances))(next.index := past(answer).index + 1)
    when(answer(learns))(next.firstGap := event.probe.arrivalGap)
    when(answer(opens)) {
      next.assignFromBits(past(answer).inverted.asBits.resize(stateBits))
      next.pairs := answer(pairs.after)
      window.ssthresh := Window.ofBytes(event.segmentSize << 5)
    }
    when(answer(loses))(next.lost := True)
    next.over := answer(over)
    when(answer(estimates) && calculated.holds)(window.ssthresh := Window.ofBytes(calculated.value.resize(32)))
    when(answer(samplesOne)) {
      next.begun := True
      next.spacing := calculated.value
      when(calculated.holds && past(answer).count =/= samples)(next.count := past(answer).count + 1)
    }

    val result = Payload(PolicyAnswer(stateBits, paces, requestBits))
    answer(result).window := window
    answer(result).policyState := next.asBits
    val active = next.pairs.ready && !answer(over) && (!answer(unknown) || next.pairs.left.orR)
    answer(result).departure := pairs.departure(
      active, past(answer).inverted, pause = answer(pause) << 15, gap = answer(own) << 15, apart = !answer(unknown))

    val request = GapFitRequest()
    request.firstGap := past(answer).firstGap
    request.departureGap := event.probe.departureGap
    request.arrivalGap := event.probe.arrivalGap
    request.roundTrip := event.rttMinimum
    request.cwnd := answer(pipe.window).cwnd(47 downto 16)
    request.segmentSize := event.segmentSize
    request.begins := !past(answer).begun
    request.sampled := answer(pairs.measured)
    request.estimates := answer(due)
    val calculation = answer(result).calculation
    calculation.valid := answer(asks)
    calculation.operands := request.asBits
    calculation.note := answer(due).asBits.resized
    result
  }
}
