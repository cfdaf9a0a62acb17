// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.{LogisticCalculator, LogisticRequest, LogisticUnit}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The logistic window (Iguchi, thesis, 3.1: Lotka-Volterra competition for the bandwidth).
  *
  * On an ACK while cwnd >= ssthresh the window moves along Eq. 10 by the time since it last moved
  * ([[downbeat.calculation.LogisticUnit]]): towards w* = {K - gamma (K - A)} tau, up or down. The solution is exact in time,
  * so the number of requests does not matter: the time of ACKs that come during a calculation goes into the next one.
  *
  * Arguments: `K` and `A`, the bottleneck's bandwidth and what is available of it, bytes per second; `eps`, how fast the
  * window moves, and `gamma`, how much the flows compete, 1.95 and 0.9 as in the thesis's 5.1; its 4.2 and 4.3 choose
  * them. tau is the connection's smallest round trip. Without K (K = A = 0) both are measured by streams of probes in
  * the data ([[downbeat.calculation.InlineMeasurement]], [[InlineStream]]); when they become
  * known, ssthresh comes down to cwnd, so that start-up ends. Before that, and before the first sample of the round
  * trip, the policy is Reno.
  *
  * Time does not count while the window is not the equation's: during start-up, in recovery, and while nothing is
  * outstanding. A step takes 10 s at most, at most doubles the window (a long gap between ACKs would cause a burst) and
  * leaves two segments at least. ssthresh comes down with the window, or start-up would take over. A loss is Reno's
  * (3.1). A timeout leaves ssthresh = 2 SMSS, so that the equation goes on from the smallest window in place of slow
  * start.
  *
  * Departs from the thesis below ssthresh, where the start-up policy grows the window, and in the last place: the
  * thesis has a degree-4 polynomial.
  */
object Logistic extends SteadyPolicy {
  val name = "logistic"
  private val rateBits = 44
  private val instantBits = 48
  private val usualEpsilon = 624 // 1.95
  private val usualGamma = 576 // 0.9
  private def rate(name: String): Argument =
    Argument(name, rateBits, fraction = 10, unit = "bytes/s", default = BigInt(12500000) << 10)
  override val arguments: Arguments =
    Arguments(
      Seq(
        rate("K"),
        rate("A"),
        Argument("eps", 16, fraction = 5, unit = "tenths", min = 1, default = usualEpsilon),
        Argument("gamma", 10, fraction = 6, unit = "tenths", min = 1, largest = Some(LogisticUnit.largestGamma),
          default = usualGamma)),
      notAbove = Seq("A" -> "K"))
  override def state: Bundle = LogisticState()
  override val paces = true
  override val measuresInline = true
  override val calculator: Option[Calculator] = Some(LogisticCalculator)
  private val longestStep = BigInt(10000000000L)

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(LogisticState())
    val subtract = new s0.Area {
      val credit = insert(before.credit)
      private val tau = event.rttMinimum
      val hasCapacity = insert(before.capacity.orR)
      val hasRoundTrip = insert(tau.orR && !tau.andR)
      val stream = insert(before.stream)
    }
    val reno = Reno.build(pipe.withState(subtract.credit))
    val stream = new InlineStream(pipe, subtract.stream)
    val moved = new MovedWindow(pipe)
    val time = new StepTime(pipe, before)

    val bound = new s1.Area {
      /** K and tau are known. */
      val holds = insert(subtract.hasCapacity && subtract.hasRoundTrip)
      val isMeasured = insert(event.kind === kinds.measured && before.measures && event.inline.capacity.orR)
      val startsUp = insert(window.cwnd < window.ssthresh)
      val noArgument = insert(!before.epsilon.orR)
    }

    val judge = new s2.Area {
      private val follows = event.kind === kinds.acknowledged && !event.startingUp && bound.holds
      val grows = insert(follows)
      val timesOut = insert(event.kind === kinds.timeout && bound.holds)
      val response = insert(event.kind === kinds.calculated && !calculated.ofStartup && !calculated.stale)
      val requests = insert(follows && !calculating)
      /** Time counts from this event on. */
      val restarts = insert(time.restarts && !follows)
    }

    val result = Payload(PolicyResult(stateBits, paces, requestBits))
    new s3.Area {
      val after = CombInit[LogisticState](before).allowOverride()
      result.window := reno.window
      after.credit := reno.policyState
      when(judge.restarts)(after.movedAt := now.ns)
      when(judge.grows) {
        result.window := window
        after.credit := 0
      }
      when(judge.timesOut)(result.window.ssthresh := moved.floor)
      when(judge.response) {
        result.window := moved.after
        after.movedAt := calculated.note.asUInt
      }
      after.stream := stream.after
      when(bound.isMeasured) {
        after.capacity := (event.inline.capacity << 10).resized
        after.available := (event.inline.available << 10).resized
        when(bound.startsUp && !before.stream.repairs)(result.window.ssthresh := window.cwnd)
      }
      when(event.kind === kinds.established)(after.measures := !before.capacity.orR)
      when(bound.noArgument) {
        after.epsilon := usualEpsilon
        after.gamma := usualGamma
      }
      result.policyState := after.asBits
      result.departure := stream.departure(after.measures)
    }

    new s3.Area {
      val request = LogisticRequest()
      request.capacity := before.capacity
      request.available := before.available
      request.roundTrip := event.rttMinimum
      request.elapsed := time.step
      request.window := window.cwnd
      request.epsilon := before.epsilon
      request.gamma := before.gamma
      result.calculation.assign(judge.requests, request, note = now.ns.asBits)
    }
  }.result

  /** The time since the window last moved, at most 10 s. */
  private class StepTime(pipe: PolicyPipe, before: Payload[LogisticState]) extends Area {
    import pipe._
    private val kinds = CongestionEventKind
    private val subtract = new s0.Area {
      val elapsed = insert(now.ns - before.movedAt)
    }
    private val compare = new s1.Area {
      val tooLong = insert(subtract.elapsed > longestStep)
    }
    private val bound = new s2.Area {
      val step = insert(compare.tooLong ? U(longestStep, 34 bits) | subtract.elapsed.resize(34))
      private val resumes = event.kind === kinds.sent && event.flight === 0
      private val other = event.kind =/= kinds.none && event.kind =/= kinds.sent && event.kind =/= kinds.paired &&
        event.kind =/= kinds.calculated && event.kind =/= kinds.measured
      val restarts = resumes || other
    }
    /** ns, from the third node on. */
    val step: Payload[UInt] = bound.step
    /** The event begins the time again unless the window follows the equation with it; on the third node. */
    val restarts: Bool = bound.restarts
  }

  /** The window of the response: at most twice cwnd, at least two segments. ssthresh comes down with it. */
  private class MovedWindow(pipe: PolicyPipe) extends Area {
    import pipe._
    private val compare = new s0.Area {
      val tooFast = insert((window.cwnd << 1).resize(48) < calculated.response(47 downto 0).asUInt)
      val ssthreshBelowFloor = insert(window.ssthresh < Window.ofBytes(event.segmentSize << 1))
    }
    private val bound = new s1.Area {
      val cwnd = insert(compare.tooFast ? (window.cwnd |<< 1) | calculated.response(47 downto 0).asUInt)
      val floor = insert(Window.ofBytes(event.segmentSize << 1))
      val ssthresh = insert(Mux[UInt](compare.ssthreshBelowFloor, floor, window.ssthresh))
    }
    private val judge = new s2.Area {
      val belowFloor = insert(bound.cwnd < bound.floor)
      /** The new window is below ssthresh or below the floor. */
      val lowersSsthresh = insert(bound.cwnd < bound.ssthresh)
    }
    private val choose = new s3.Area {
      private val cwnd = Mux[UInt](judge.belowFloor, bound.floor, bound.cwnd)
      val after = Window()
      after.cwnd := cwnd
      after.ssthresh := Mux[UInt](judge.lowersSsthresh, cwnd, window.ssthresh)
    }
    /** Two segments, bytes with 16 fraction bits; from the second node on. */
    val floor: Payload[UInt] = bound.floor
    /** On the last node. */
    val after: Window = choose.after
  }

  private case class LogisticState() extends Bundle {
    /** The argument: K and A; 320 eps and 640 gamma. */
    val capacity, available = UInt(rateBits bits)
    val epsilon = UInt(16 bits)
    val gamma = UInt(10 bits)
    /** When the window last moved, ns. */
    val movedAt = UInt(instantBits bits)
    /** Reno's policy state. */
    val credit = Bits(Reno.stateBits bits)
    /** There is no K: K and A are measured. */
    val measures = Bool()
    val stream = InlineStreamState()
  }
}
