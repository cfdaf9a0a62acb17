// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.{LossIntervals, LossIntervalsRequest}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** TCP Carson (Kannan, thesis, WPI 2002, chapters 4 and 5): AIMD(a, b). Its a and b step from Reno's towards smoother
  * ones while the loss intervals are steady, and go back at once when they are not.
  *
  * Rows (a, b), thesis table 5.1: (1, 0.5), (0.75, 0.4), (0.25, 0.25), (0.148, 0.125). Growth and decrease are
  * [[AdditiveIncrease]]'s and [[MultiplicativeDecrease]]'s. A loss is cut by the b of the row before it. If the loss
  * then turns out to be steady, the milder b of the next row replaces that row's (the thesis's receiver reports the
  * interval with the first duplicate ACK, before the window is cut).
  *
  * A loss event is a loss by duplicate ACKs, or a timeout when two rounds have ended since the last loss event (losses
  * of one round are one event). Its interval is the bytes acknowledged since the event before. [[LossIntervals]]
  * computes the weighted mean of up to 32 intervals (WALI-32), and [[CarsonVerdict]] compares it with the mean
  * before:
  *
  *   unsteady: row 1, no history
  *   steady:   one row on, the newest half of the history stays
  *
  * Also unsteady, until the next event: a timeout; no loss for `factor` r rounds, r = the rounds between the last two
  * events (4.3.3).
  *
  * Arguments of the thesis:
  *
  *   variance  of WALI that is allowed, in percent; its 6.2 has 2, 6, 10 and 20
  *   history   of so many intervals (4.4)
  *   factor    1.75 (4.3.3)
  *
  * Arguments of ours; neither is the thesis's rule:
  *
  *   fastdrop  unsteady also if the mean of the four newest intervals is below half of WALI. The thesis's test alone
  *             takes a fall from 950 to 40 packets for steady, as no interval weighs more than 1/17.
  *   full      a verdict of WALI needs a full history in every row, not more than half of it in later ones
  *
  * Departs from the thesis: the sender counts by acknowledged bytes what the thesis's receiver counted by round numbers
  * in a header of its own. A round ends when what was in flight at its beginning is acknowledged (as HyStart++'s), not
  * by a timer. The limit of rounds does not hold for the interval in which a new row begins, and r is not taken
  * from that interval: from row 2 to row 3 the rounds between losses double by the change alone. An interval whose
  * response comes after the next loss is left out.
  */
object Carson extends SteadyPolicy {
  val name = "carson"
  private val usualFactor = 7 // quarters
  private val usualVariance = 10 // percent
  override val arguments: Arguments =
    Arguments(Seq(
        Argument("fastdrop", 1),
        Argument("full", 1),
        Argument("factor", 6, fraction = 2, min = 1, default = usualFactor),
        Argument("variance", 7, min = 1, largest = Some(100), default = usualVariance),
        Argument("history", 6, min = 4, largest = Some(LossIntervals.entries), default = LossIntervals.entries)))
  override def state: Bundle = CarsonState()
  override val calculator: Option[Calculator] = Some(LossIntervals)
  private val increases = Seq(65536, 49152, 16384, 9699) // 16 fraction bits
  private val decreases = Seq(32768, 26214, 16384, 8192)

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(CarsonState())
    val rounds = new CarsonRounds(pipe, before)
    val verdict = new CarsonVerdict(pipe, before)

    val choose = new s0.Area {
      val rowAfter = insert(before.row.andR ? U(3, 2 bits) | (before.row + 1))
      val a = insert(Vec(increases.map(U(_, 17 bits)))(before.row))
      private val decreaseRow = Mux[UInt](event.kind === kinds.calculated, rowAfter, before.row)
      val b = insert(Vec(decreases.map(U(_, 16 bits)))(decreaseRow))
    }
    val increase = new AdditiveIncrease(pipe, choose.a, before)
    val decrease = new MultiplicativeDecrease(pipe, choose.b)

    val judge = new CarsonDecision(pipe, before, rounds, verdict, decrease)

    val result = Payload(PolicyResult(stateBits, requestBits = requestBits))
    new s3.Area {
      result.window := window
      when(judge.grows)(result.window.cwnd := increase.cwndAfter)
      when(judge.decreases)(result.window.ssthresh := decrease.ssthresh)

      val after = CombInit[CarsonState](before).allowOverride()
      rounds.countTo(after)
      when(judge.tooLong) {
        after.restart()
        after.armed := False
      }
      when(judge.grows)(after.credit := increase.creditAfter)
      when(judge.response)(verdict.applyTo(after, rowAfter = choose.rowAfter))
      when(judge.loses) {
        after.credit := 0
        when(judge.losesApart) {
          after.seen := True
          after.armed := before.seen && !before.mixed
          after.mixed := False
          rounds.restartIn(after)
          after.interval := rounds.acked
          after.pending := before.seen
        }
        when(judge.timesOut)(after.restart())
      }
      when(judge.opens)(after.begin(before))
      when(verdict.noArgument) {
        after.factor := usualFactor
        after.variance := usualVariance
        after.history := LossIntervals.entries
      }
      result.policyState := after.asBits
    }

    new s3.Area {
      val request = LossIntervalsRequest()
      request.bytes := Mux[UInt](judge.losesApart, rounds.acked, before.interval)
      request.segmentSize := event.segmentSize
      request.place := before.place + 1
      request.count := verdict.count
      request.history := before.history
      request.before := before.mean
      request.variance := before.variance
      result.calculation.assign(judge.requests, request)
    }
  }.result
}
