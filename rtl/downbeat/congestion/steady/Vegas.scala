// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.QueueShare
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Vegas congestion avoidance (Brakmo and Peterson 1995; the rules of ns-2's agent, which the Astart slides compare
  * with).
  *
  * At the end of each round ([[ByteRound]]): diff = cwnd (RTT - base) / RTT ([[QueueShare]]), in segments and rounded to
  * the nearest. RTT is the mean of the round's samples, base the smallest of all. Full segments are probes, so that ACKs
  * are samples.
  *  - diff > beta: cwnd -= SMSS, two segments at least, and nothing is added in the next round. ssthresh comes down with
  *    the window, or start-up would take over.
  *  - diff < alpha: in the next round the window grows as Reno's.
  *  - otherwise the window stays.
  *
  * A loss leaves ssthresh = max(3/4 flight, 2 SMSS), a timeout max(flight / 2, 2 SMSS).
  *
  * Argument: `alpha` and `beta`, segments; `round` = 0 compares diff itself. Without an argument: 1, 3, rounded.
  *
  * Departs from the agent: losses are found as for each other policy, without Vegas' fine-grained timeout. Without
  * RACK 32 probes in flight are the samples, so in a large window not every ACK is one.
  */
object Vegas extends SteadyPolicy {
  val name = "vegas"
  override val arguments: Arguments = Arguments(
    Seq(
      Argument("alpha", 8, unit = "segments", min = 1, default = 1),
      Argument("beta", 8, unit = "segments", min = 1, default = 3),
      Argument("round", 1, default = 1)),
    notAbove = Seq("alpha" -> "beta"))
  override def state: Bundle = VegasState()
  override val paces = true
  override val calculator: Option[Calculator] = Some(QueueShare)

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(VegasState())

    val own = new s0.Area {
      val credit = insert(before.credit)
      val total = insert(before.total + event.roundTrip)
      val timed = insert(event.isTimed)
      val count = insert(before.count + 1)
      val full = insert(before.count.andR)
    }
    val reno = Reno.build(pipe.withState(own.credit))
    val queue = new Queue(pipe, before)
    val round = new ByteRound(pipe, before)
    val decrease = new Decrease(pipe)

    val compare = new s1.Area {
      private val threeSegments = event.segmentSize.resize(18) + (event.segmentSize << 1)
      val aboveFloor = insert(!(window.cwnd(47 downto 16) < threeSegments.resize(32)))
      val less = insert(window.cwnd - Window.ofBytes(event.segmentSize))
    }

    val judge = new s2.Area {
      private val counted = event.kind === kinds.acknowledged && !event.startingUp
      private val sampling = !before.due && own.timed && !own.full
      val counts = insert(counted)
      val samples = insert(counted && sampling)
      val ends = insert(counted && round.ends && (before.count.orR || sampling))
      val lowersSsthresh = insert(compare.less < window.ssthresh)
      val opens = insert(event.kind === kinds.established)
      val grows = insert(before.grows && counted)
      val loses = insert(event.isLoss)
      val responds = insert(event.kind === kinds.calculated && !calculated.ofStartup)
      val decides = insert(event.kind === kinds.calculated && !calculated.ofStartup && !calculated.stale)
      val requests = insert(before.due && !calculating)
      val restarts = insert(event.kind === kinds.restart)
      val noArgument = insert(!(before.alpha.orR || before.beta.orR || before.round))
    }

    val result = Payload(PolicyResult(stateBits, paces, requestBits))
    new s3.Area {
      val after = CombInit[VegasState](before).allowOverride()
      result.window := window
      when(judge.counts)(after.left := round.left)
      when(judge.samples) {
        after.total := own.total
        after.count := own.count
      }
      when(judge.ends)(after.due := True)
      when(judge.grows) {
        result.window := reno.window
        after.credit := reno.policyState
      }
      when(judge.responds)(after.forgetSamples())
      when(judge.decides) {
        after.grows := queue.isBelowAlpha
        when(queue.isAboveBeta && compare.aboveFloor) {
          result.window.cwnd := compare.less
          when(judge.lowersSsthresh)(result.window.ssthresh := compare.less)
        }
      }
      when(judge.loses) {
        result.window.ssthresh := decrease.ssthresh
      }
      when(judge.loses || judge.opens) {
        after.left := 0
        after.credit := 0
        after.forgetSamples()
        after.grows := False
      }
      when(judge.restarts)(after.credit := 0)
      when(judge.opens) {
        when(judge.noArgument) {
          after.alpha := 1
          after.beta := 3
          after.round := True
        }
      }
      result.policyState := after.asBits
      result.departure := DeparturePlan.probing(!event.startingUp)
      result.calculation.assign(judge.requests,
        QueueShare.request(window.cwnd(47 downto 16), before.total, before.count, event.rttMinimum))
    }
  }.result

  /** diff, from the response, against alpha and beta: twice diff in bytes, so that halves of a segment count. */
  private class Queue(pipe: PolicyPipe, before: Payload[VegasState]) extends Area {
    import pipe._
    private val multiply = new s0.Area {
      val alpha = insert(((before.alpha << 1) - before.round.asUInt) * event.segmentSize)
      val beta = insert((before.beta @@ before.round) * event.segmentSize)
    }
    private val compare = new s1.Area {
      private val diff = calculated.response(31 downto 0).asUInt
      val isBelowAlpha = insert((diff @@ False) < multiply.alpha.resize(33))
      val isAboveBeta = insert(multiply.beta.resize(33) < (diff @@ before.round))
    }
    /** From the second node on. */
    val isBelowAlpha: Payload[Bool] = compare.isBelowAlpha
    val isAboveBeta: Payload[Bool] = compare.isAboveBeta
  }

  /** max(3/4 flight, 2 SMSS) after a loss, max(flight / 2, 2 SMSS) after a timeout. */
  private class Decrease(pipe: PolicyPipe) extends Area {
    import pipe._
    private val share = new s1.Area {
      val twoSegments = insert((event.segmentSize << 1).resize(32))
      val half = insert(event.flight |>> 1)
      val threeQuarters = insert(event.flight - (event.flight |>> 2))
    }
    private val choose = new s2.Area {
      private val timesOut = event.kind === CongestionEventKind.timeout
      val kept = insert(Mux[UInt](timesOut, share.half, share.threeQuarters))
      val floorHolds = insert(Mux[Bool](timesOut, share.half < share.twoSegments,
          share.threeQuarters < share.twoSegments))
    }
    private val bound = new s3.Area {
      val ssthresh = Window.ofBytes(Mux[UInt](choose.floorHolds, share.twoSegments, choose.kept))
    }
    /** Bytes with 16 fraction bits, on the last node. */
    val ssthresh: UInt = bound.ssthresh
  }

  private case class VegasState() extends Bundle with RoundState {
    /** The argument. */
    val alpha, beta = UInt(8 bits)
    val round = Bool()
    /** Reno's policy state. */
    val credit = Bits(Reno.stateBits bits)
    val left = UInt(32 bits)
    /** Round trips of the round, ns, and their number. */
    val total = UInt(48 bits)
    val count = UInt(12 bits)
    /** The window grows in this round. */
    val grows = Bool()
    /** A round is over and its diff is not known. */
    val due = Bool()

    def forgetSamples(): Unit = {
      total := 0
      count := 0
      due := False
    }
  }
}
