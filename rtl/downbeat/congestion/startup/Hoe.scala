// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.{GapWindow, GapWindowRequest}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** What Hoe keeps: 79 bits. */
case class HoeState() extends Bundle {
  /** The argument: pairs are inverted. */
  val inverted = Bool()
  val pairs = PacketPairsState()
  /** The gap between the ACKs of the first pair, ns; zero: not known. The round trip of its first segment, ns; zero: none yet. */
  val gap, roundTrip = UInt(36 bits)
  /** The estimate is made, or something was lost. */
  val over = Bool()
}

/** Hoe's estimate of ssthresh by packet pair (Hoe, "Improving the start-up behavior of a congestion control scheme for TCP", 1996).
  *
  * The first two segments leave back to back. Their ACKs arrive y0 apart: the bottleneck sends a segment in y0, so that
  * ssthresh = floor(R / y0) segments fill the path, R the round trip of the first of the two; once in a connection. Otherwise
  * standard slow start. If a pair tells nothing (y0 = 0, one ACK for both, something between) the next one is tried, four in all; then,
  * or after a loss, ssthresh stays what it was.
  *
  * Argument: 1 sends them inverted, for a receiver that delays ACKs; zero as in the paper, where such a receiver gives no estimate.
  * With an initial window of one segment that goes alone.
  */
object Hoe extends StartupPolicy {
  val name = "hoe"
  override val arguments: Arguments = Arguments(Seq(Argument("inverted", 1)))
  val stateBits = 79
  override val paces = true
  override val calculator: Option[Calculator] = Some(GapWindow)

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(_, _, choose, answer) = pipe.nodes
    val slowStart = new SlowStart(pipe)
    def kept(node: Node): HoeState = node(pipe.policyState).as(HoeState())
    val known = kept(choose).gap.orR
    val unknown = choose.insert(!known)
    val pairs = new PacketPairs(pipe, kept(choose).pairs, kept(choose).inverted)
    val kind = choose(pipe.event).kind
    val opens = choose.insert(kind === CongestionEventKind.established)
    val estimates = choose.insert(kind === CongestionEventKind.calculated && choose(pipe.calculated).ofStartup)
    val over = choose.insert(
      kind === CongestionEventKind.loss || kind === CongestionEventKind.timeout || choose(estimates) ||
        kept(choose).over && kind =/= CongestionEventKind.established)
    val asks = choose.insert(known && kept(choose).roundTrip.orR && !kept(choose).over && !choose(pipe.calculating))

    val event = answer(pipe.event)
    val past = kept(answer)
    val next = CombInit(past).allowOverride()
    val window = CombInit(slowStart.window).allowOverride()
    next.pairs := answer(pairs.after)
    when(answer(unknown)) {
      when(event.rttValid)(next.roundTrip := event.rtt)
      when(answer(pairs.measured) && answer(pairs.tells))(next.gap := event.probe.arrivalGap)
    }
    when(answer(opens)) {
      next.gap := 0
      next.roundTrip := 0
    }
    next.over := answer(over)
    when(answer(estimates)) {
      window.ssthresh := Window.ofBytes(answer(pipe.calculated).response(GapWindow.responseBits - 1 downto 0).asUInt)
    }

    val result = Payload(PolicyAnswer(stateBits, paces, requestBits))
    answer(result).window := window
    answer(result).policyState := next.asBits
    val tries = next.pairs.ready && next.pairs.left.orR && answer(unknown) && !answer(over)
    answer(result).departure := pairs.departure(active = tries, past.inverted, pause = U(0), gap = U(0), apart = False)
    val request = GapWindowRequest()
    request.gap := past.gap
    request.roundTrip := past.roundTrip
    request.segmentSize := event.segmentSize
    val calculation = answer(result).calculation
    calculation.valid := answer(asks)
    calculation.operands := request.asBits
    calculation.note := 0
    result
  }
}
