// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.{QueueShare, QueueShareRequest}
import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Vegas slow start (Brakmo and Peterson 1995; the Astart slides, 4 and 5; the rules of ns-2's agent).
  *
  * The window grows in every other round, by min(N, SMSS) for an ACK of N new bytes, while the flight is at most two
  * segments below it. In the rounds between it stays, and at the end of such a round diff = cwnd (RTT - base) / RTT
  * ([[QueueShare]]) is compared, in segments and rounded to the nearest. diff > gamma ends start-up: cwnd -= cwnd / 8,
  * ssthresh = 2 SMSS.
  *
  * A round ends when the data that was outstanding at its beginning is acknowledged, as in [[Hystart]]. Full segments
  * are probes, so that ACKs are samples; RTT is their mean in the round, base the connection's smallest.
  *
  * Argument: `gamma`, segments; `round` = 0 compares diff itself. Without an argument: 1, rounded.
  *
  * Departs from the agent: 32 probes are in flight at most, so in a large window not every ACK is a sample.
  */
object Vegasstart extends StartupPolicy {
  val name = "vegasstart"
  override val arguments: Arguments = Arguments(Seq(
      Argument("gamma", 8, unit = "segments", min = 1, default = 1),
      Argument("round", 1, default = 1)))
  val stateBits: Int = argumentBits + 32 + 48 + 12 + 2
  override val comparesRoundTrips = true
  override val paces = true
  override val calculator: Option[Calculator] = Some(QueueShare)

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(VegasstartState())
    val slowStart = new SlowStart(pipe)

    val compare = new s0.Area {
      /** Bound of twice diff, bytes. */
      val bound = insert((before.gamma @@ before.round) * event.segmentSize)
      val reached = insert(event.ackedBytes >= before.left)
      val empty = insert(!before.left.orR)
      val left = insert(before.left - event.ackedBytes)
      val total = insert(before.total + (event.probe.answered ? event.probe.roundTrip | event.rtt))
      val timed = insert(event.probe.answered || event.rttValid)
      val count = insert(before.count + 1)
      val full = insert(before.count.andR)
      val twoSegments = insert(event.segmentSize << 1)
    }

    val add = new s1.Area {
      val flight = insert(event.flight - event.ackedBytes)
      val usedBytes = insert(event.flight.resize(33) + compare.twoSegments.resize(33))
      val many = insert(compare.bound.resize(33) < (calculated.response(31 downto 0).asUInt @@ before.round))
      val less = insert(window.cwnd - (window.cwnd |>> 3))
    }

    val judge = new s2.Area {
      private val ends = compare.reached && !compare.empty
      private val counted = event.kind === kinds.acknowledged && event.startingUp
      private val sampling = !before.grows && !before.due && compare.timed && !compare.full
      val counts = insert(counted)
      val samples = insert(counted && sampling)
      val endsRound = insert(counted && ends)
      val measures = insert(counted && ends && !before.grows && (before.count.orR || sampling))
      val stays = insert(event.kind === kinds.acknowledged &&
        (!before.grows || add.usedBytes < window.cwnd(47 downto 16).resize(33)))
      val opens = insert(event.kind === kinds.established)
      val told = insert(event.kind === kinds.calculated && calculated.ofStartup)
      val exits = insert(event.kind === kinds.calculated && calculated.ofStartup && add.many)
      val requests = insert(before.due && !calculating)
      val noArgument = insert(!(before.gamma.orR || before.round))
    }

    val result = Payload(PolicyAnswer(stateBits, paces, requestBits))
    new s3.Area {
      val after = CombInit[VegasstartState](before).allowOverride()
      result.window := slowStart.windowAfter
      when(judge.stays)(result.window.cwnd := window.cwnd)
      when(judge.counts)(after.left := Mux[UInt](compare.reached, add.flight, compare.left))
      when(judge.samples) {
        after.total := compare.total
        after.count := compare.count
      }
      when(judge.endsRound)(after.grows := !before.grows)
      when(judge.measures)(after.due := True)
      when(judge.told) {
        after.due := False
        after.total := 0
        after.count := 0
      }
      when(judge.exits) {
        result.window.cwnd := add.less
        result.window.ssthresh := Window.ofBytes(compare.twoSegments)
      }
      when(judge.opens) {
        after.left := 0
        after.total := 0
        after.count := 0
        after.grows := False
        after.due := False
        when(judge.noArgument) {
          after.gamma := 1
          after.round := True
        }
      }
      result.policyState := after.asBits
      result.departure := DeparturePlan.configured
      result.departure.allowOverride()
      result.departure.probe := event.startingUp
      result.departure.begins := event.startingUp
    }

    new s3.Area {
      val request = QueueShareRequest()
      request.window := window.cwnd(47 downto 16)
      request.total := before.total
      request.count := before.count
      request.base := event.rttMinimum
      result.calculation.valid := judge.requests
      result.calculation.operands := request.asBits
      result.calculation.note := 0
    }
  }.result

  private case class VegasstartState() extends Bundle {
    /** The argument. */
    val gamma = UInt(8 bits)
    val round = Bool()
    /** Bytes to be acknowledged until the round ends. */
    val left = UInt(32 bits)
    /** Round trips of the measured round, ns, and their number. */
    val total = UInt(48 bits)
    val count = UInt(12 bits)
    /** The window grows in this round. */
    val grows = Bool()
    /** A measured round is over and its diff is not known. */
    val due = Bool()
  }
}
