// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.{QueueShare, QueueShareRequest}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Vegas congestion avoidance (Brakmo and Peterson 1995; the rules of ns-2's agent, which the Astart slides compare
  * with).
  *
  * With each sample of the round trip: diff = cwnd (RTT - base) / RTT ([[QueueShare]]), in segments and rounded to the
  * nearest.
  *  - diff > beta: cwnd -= SMSS, two segments at least, and nothing is added until the next sample. ssthresh comes down
  *    with the window, or start-up would take over.
  *  - diff < alpha: until the next sample the window grows as Reno's.
  *  - otherwise the window stays.
  *
  * A loss leaves ssthresh = max(3/4 flight, 2 SMSS), a timeout max(flight / 2, 2 SMSS).
  *
  * Argument: `alpha` and `beta`, segments; `round` = 0 compares diff itself. Without an argument: 1, 3, rounded.
  *
  * Departs from the agent: losses are found as for each other policy, without Vegas' fine-grained timeout. RTT is the
  * engine's one sample in a round trip. base is the smallest of all.
  */
object Vegas extends SteadyPolicy {
  val name = "vegas"
  override val arguments: Arguments = Arguments(
    Seq(
      Argument("alpha", 8, unit = "segments", min = 1, default = 1),
      Argument("beta", 8, unit = "segments", min = 1, default = 3),
      Argument("round", 1, default = 1)),
    notAbove = Seq("alpha" -> "beta"))
  val stateBits: Int = argumentBits + Reno.stateBits + 36 + 1
  override val comparesRoundTrips = true
  override val calculator: Option[Calculator] = Some(QueueShare)

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(VegasState())

    /** Bounds of twice diff, bytes. */
    val multiply = new s0.Area {
      val credit = insert(before.credit)
      val low = insert(((before.alpha << 1) - before.round.asUInt) * event.segmentSize)
      val high = insert((before.beta @@ before.round) * event.segmentSize)
      val twoSegments = insert((event.segmentSize << 1).resize(32))
      val threeSegments = insert(event.segmentSize.resize(18) + (event.segmentSize << 1))
    }
    val reno = Reno.build(pipe.withState(multiply.credit))

    val compare = new s1.Area {
      private val queued = calculated.response(31 downto 0).asUInt
      val few = insert((queued @@ False) < multiply.low.resize(33))
      val many = insert(multiply.high.resize(33) < (queued @@ before.round))
      val aboveFloor = insert(!(window.cwnd(47 downto 16) < multiply.threeSegments.resize(32)))
      val less = insert(window.cwnd - Window.ofBytes(event.segmentSize))
      val half = insert(event.flight |>> 1)
      val threeQuarters = insert(event.flight - (event.flight |>> 2))
    }

    val judge = new s2.Area {
      val lowersSsthresh = insert(compare.less < window.ssthresh)
      private val kept = Mux[UInt](event.kind === kinds.timeout, compare.half, compare.threeQuarters)
      val kept32 = insert(kept)
      val floorHolds = insert(Mux[Bool](event.kind === kinds.timeout, compare.half < multiply.twoSegments,
          compare.threeQuarters < multiply.twoSegments))
      val opens = insert(event.kind === kinds.established)
      val grows = insert(before.grows && event.kind === kinds.acknowledged && !event.startingUp)
      val loses = insert(event.isLoss)
      val told = insert(event.kind === kinds.calculated && !calculated.ofStartup)
      val counts = insert(event.kind === kinds.calculated && !calculated.ofStartup && !calculated.stale)
      val samples = insert(
        event.kind === kinds.acknowledged && !event.startingUp && event.rttValid && !before.roundTrip.orR)
      val requests = insert(before.roundTrip.orR && !calculating)
      val noArgument = insert(!(before.alpha.orR || before.beta.orR || before.round))
    }

    val result = Payload(PolicyAnswer(stateBits, requestBits = requestBits))
    new s3.Area {
      val after = CombInit[VegasState](before).allowOverride()
      result.window := window
      when(judge.samples)(after.roundTrip := event.rtt)
      when(judge.grows) {
        result.window := reno.window
        after.credit := reno.policyState
      }
      when(judge.told)(after.roundTrip := 0)
      when(judge.counts) {
        after.grows := compare.few
        when(compare.many && compare.aboveFloor) {
          result.window.cwnd := compare.less
          when(judge.lowersSsthresh)(result.window.ssthresh := compare.less)
        }
      }
      when(judge.loses) {
        result.window.ssthresh :=
          Window.ofBytes(Mux[UInt](judge.floorHolds, multiply.twoSegments, judge.kept32))
        after.credit := 0
        after.roundTrip := 0
        after.grows := False
      }
      when(judge.opens) {
        after.credit := 0
        after.roundTrip := 0
        after.grows := False
        when(judge.noArgument) {
          after.alpha := 1
          after.beta := 3
          after.round := True
        }
      }
      result.policyState := after.asBits
    }

    new s3.Area {
      val request = QueueShareRequest()
      request.window := window.cwnd(47 downto 16)
      request.total := before.roundTrip.resized
      request.count := 1
      request.base := event.rttMinimum
      result.calculation.valid := judge.requests
      result.calculation.operands := request.asBits
      result.calculation.note := 0
    }
  }.result

  private case class VegasState() extends Bundle {
    /** The argument. */
    val alpha, beta = UInt(8 bits)
    val round = Bool()
    /** Reno's policy state. */
    val credit = Bits(Reno.stateBits bits)
    /** The sample whose diff is not known, ns; zero: there is none. */
    val roundTrip = UInt(36 bits)
    /** The window grows until the next sample. */
    val grows = Bool()
  }
}
