// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.GapWindow
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Paced Start (Hu and Steenkiste, "Improving TCP Startup Performance using Active Measurements", 2003; Yu, thesis,
  * Algorithm 3, whose end is missing).
  *
  * Trains of 2, 4, 8, 16 and 32 segments leave, each when the ACKs of the one before have come. The first leaves back
  * to back, and its ACKs arrive g1 apart; the next has the input gap 2 g1. With the mean output gap of a later train:
  * {{{
  * out > (1 + theta) in:  low = in;   gap = (low + high) / 2 if there is a high, else 2 in
  * otherwise:             high = in;  gap = (low + high) / 2
  * }}}
  * It ends with the first train that finds the path free, and its gap is `in`; with the argument `bisect` = 1, or where
  * no train does, it ends with the train of 32, and the gap is high, or the next one if there is none; also where an ACK
  * of what is behind that train comes before its verdict. Then
  * ssthresh = floor(R / gap) segments ([[GapWindow]]), R the smallest round trip. theta is ours: 3/64.
  *
  * cwnd is two segments at first and grows as in standard slow start. A train that was disturbed, or whose ACKs do not
  * come one by one, leaves the gap as it is. Without g1, or after a loss, there is no estimate. A g1 above R is none.
  */
object Past extends StartupPolicy {
  val name = "past"
  override val arguments: Arguments = Arguments(Seq(Argument("bisect", 1)))
  override def state: Bundle = PastState()
  override val paces = true
  override val calculator: Option[Calculator] = Some(GapWindow)

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(PastState())
    val slowStart = new SlowStart(pipe)

    val gaps = new PastGaps(pipe, before)
    val train = new PastTrain(pipe, before)

    val judge = new s2.Area {
      private val ends = event.probe.measured && gaps.complete && !before.judged && !before.done && !before.over
      val restarts = insert(event.probe.answered && event.probe.begins)
      val counts = insert(event.probe.measured && !before.judged)
      val first = insert(ends && before.train === 1 && gaps.known)
      val later = insert(ends && before.train =/= 1)
      val loses = insert(event.isLoss)
      val opens = insert(event.kind === kinds.established)
      val responds = insert(event.kind === kinds.calculated && calculated.ofStartup)
      val requests = insert(before.done && !before.over && !event.rttMinimum.andR && !calculating)
    }

    val result = Payload(PolicyResult(stateBits, paces, requestBits))
    new s3.Area {
      val after = CombInit[PastState](before).allowOverride()
      result.window := slowStart.windowAfter
      after.limit := gaps.limit
      when(judge.counts)(gaps.addTo(after))
      when(judge.restarts) {
        after.sum := 0
        after.count := 0
      }
      when(judge.first)(gaps.judgeFirst(after))
      when(judge.later)(gaps.judgeLater(after))
      train.advance(after)
      when(judge.responds) {
        after.over := True
        result.window.ssthresh := Window.ofBytes(calculated.response(GapWindow.responseBits - 1 downto 0).asUInt)
      }
      when(judge.loses)(after.over := True)
      when(judge.opens) {
        after.assignFromBits(before.bisect.asBits.resize(stateBits))
        after.train := 1
        result.window.cwnd := Window.ofBytes((event.segmentSize << 1).resize(32))
      }
      result.policyState := after.asBits
      result.departure := after.departure
      result.calculation.assign(judge.requests, GapWindow.request(before.gap, event.rttMinimum, event.segmentSize))
    }
  }.result
}
