// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.QueueShare
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
  * A round ends when the data that was outstanding at its beginning is acknowledged ([[ByteRound]]). Full segments
  * are probes, so that ACKs are samples; RTT is their mean in the round, base the connection's smallest.
  *
  * Argument: `gamma`, segments; `round` = 0 compares diff itself. Without an argument: 1, rounded.
  *
  * Departs from the agent: without RACK 32 probes in flight are the samples, so in a large window not every ACK is one.
  */
object Vegasstart extends StartupPolicy {
  val name = "vegasstart"
  override val arguments: Arguments = Arguments(Seq(
      Argument("gamma", 8, unit = "segments", min = 1, default = 1),
      Argument("round", 1, default = 1)))
  override def state: Bundle = VegasstartState()
  override val paces = true
  override val calculator: Option[Calculator] = Some(QueueShare)

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(VegasstartState())
    val slowStart = new SlowStart(pipe)
    val round = new ByteRound(pipe, before)

    val compare = new s0.Area {
      /** Bound of twice diff, bytes. */
      val bound = insert((before.gamma @@ before.round) * event.segmentSize)
      val total = insert(before.total + event.roundTrip)
      val timed = insert(event.isTimed)
      val count = insert(before.count + 1)
      val full = insert(before.count.andR)
      val twoSegments = insert(event.segmentSize << 1)
    }

    val add = new s1.Area {
      val usedBytes = insert(event.flight.resize(33) + compare.twoSegments.resize(33))
      val many = insert(compare.bound.resize(33) < (calculated.response(31 downto 0).asUInt @@ before.round))
      val less = insert(window.cwnd - (window.cwnd |>> 3))
    }

    val judge = new s2.Area {
      private val counted = event.kind === kinds.acknowledged && event.startingUp
      private val sampling = !before.grows && !before.due && compare.timed && !compare.full
      val counts = insert(counted)
      val samples = insert(counted && sampling)
      val endsRound = insert(counted && round.ends)
      val measures = insert(counted && round.ends && !before.grows && (before.count.orR || sampling))
      val stays = insert(event.kind === kinds.acknowledged &&
        (!before.grows || add.usedBytes < window.cwnd(47 downto 16).resize(33)))
      val opens = insert(event.kind === kinds.established)
      val responds = insert(event.kind === kinds.calculated && calculated.ofStartup)
      val exits = insert(event.kind === kinds.calculated && calculated.ofStartup && add.many)
      val requests = insert(before.due && !calculating)
      val noArgument = insert(!(before.gamma.orR || before.round))
    }

    val result = Payload(PolicyResult(stateBits, paces, requestBits))
    new s3.Area {
      val after = CombInit[VegasstartState](before).allowOverride()
      result.window := slowStart.windowAfter
      when(judge.stays)(result.window.cwnd := window.cwnd)
      when(judge.counts)(after.left := round.left)
      when(judge.samples) {
        after.total := compare.total
        after.count := compare.count
      }
      when(judge.endsRound)(after.grows := !before.grows)
      when(judge.measures)(after.due := True)
      when(judge.responds) {
        after.due := False
        after.total := 0
        after.count := 0
      }
      when(judge.exits) {
        result.window.cwnd := add.less
        result.window.ssthresh := Window.ofBytes(compare.twoSegments)
      }
      when(judge.opens)(after.restart(judge.noArgument))
      result.policyState := after.asBits
      result.departure := DeparturePlan.probing(event.startingUp)
      result.calculation.assign(judge.requests,
        QueueShare.request(window.cwnd(47 downto 16), before.total, before.count, event.rttMinimum))
    }
  }.result

  private case class VegasstartState() extends Bundle with RoundState {
    /** The argument. */
    val gamma = UInt(8 bits)
    val round = Bool()
    val left = UInt(32 bits)
    /** Round trips of the measured round, ns, and their number. */
    val total = UInt(48 bits)
    val count = UInt(12 bits)
    /** The window grows in this round. */
    val grows = Bool()
    /** A measured round is over and its diff is not known. */
    val due = Bool()

    /** All but the argument begins again; the default argument is used where the connection gives none. */
    def restart(noArgument: Bool): Unit = {
      left := 0
      total := 0
      count := 0
      grows := False
      due := False
      when(noArgument) {
        gamma := 1
        round := True
      }
    }
  }
}
