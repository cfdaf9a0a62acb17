// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.{QueueShare, QueueShareRequest}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** FAST TCP (Wei, Jin, Low and Hegde 2006; Iguchi, thesis, equation 19, with p = 1/2).
  *
  * With each sample of the round trip, or with every second:
  * {{{
  * q = wOld (RTT - base) / RTT                       (QueueShare)
  * w = (cwnd + wOld - q + alpha SMSS) / 2
  * }}}
  * wOld is the flight when the sample before came, about when the timed segment left. base is the connection's smallest
  * round trip. A smaller w counts at once, and ssthresh goes with it, or start-up would take over. A larger w is
  * `owed`: an ACK of N new bytes adds min(N, owed), so that the window at most doubles in a round trip, as in the
  * paper. In equilibrium alpha segments wait in the queue. A loss is Reno's.
  *
  * Argument: `alpha`, segments, 2 at least, so that w is two segments at least; `every`, 1 or 2 samples; `mi` = 1
  * doubles the window in each round trip with less than 0.75 ms of queue, as the module for ns-2 does.
  */
object Fast extends SteadyPolicy {
  val name = "fast"
  override val arguments: Arguments = Arguments(Seq(
      Argument("alpha", 16, unit = "segments", min = 2, default = 100),
      Argument("every", 2, min = 1, largest = Some(2), default = 1),
      Argument("mi", 1)))
  val stateBits: Int = argumentBits + 32 + 32 + 32 + 36 + 1
  override val comparesRoundTrips = true
  override val calculator: Option[Calculator] = Some(QueueShare)
  /** Less queue than this is none, ns. */
  private val noQueue = 750000

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(FastState())

    val add = new s0.Area {
      val kept = insert(calculated.note(31 downto 0).asUInt.resize(33).asSInt -
        calculated.response(31 downto 0).asUInt.resize(33).asSInt)
      val alpha = insert(before.alpha * event.segmentSize)
      val owes = insert(event.ackedBytes < before.owed)
      val left = insert(before.owed - event.ackedBytes)
      val queued = insert(before.roundTrip - event.rttMinimum)
      val twoSegments = insert((event.segmentSize << 1).resize(32))
    }

    val bound = new s1.Area {
      val target = insert(add.kept.resize(35) + add.alpha.resize(35).asSInt)
      val growth = insert(Window.ofBytes(Mux[UInt](add.owes, event.ackedBytes, before.owed)))
      val owed = insert(Mux[UInt](add.owes, add.left, U(0, 32 bits)))
      val half = insert(event.flight |>> 1)
      val halfIsLess = insert((event.flight |>> 1) < add.twoSegments)
      val noQueue = insert(add.queued < Fast.noQueue)
    }

    val judge = new s2.Area {
      private val cwnd = window.cwnd(47 downto 16)
      val beyond = insert(bound.target.resize(36) - cwnd.resize(36).asSInt)
      val mean = insert(((bound.target @@ S(0, 16 bits)).resize(52) + window.cwnd.resize(52).asSInt).asUInt)
      val grown = insert(window.cwnd + bound.growth)
      val ssthresh = insert(Window.ofBytes(Mux[UInt](bound.halfIsLess, add.twoSegments, bound.half)))
      val opens = insert(event.kind === kinds.established)
      val grows = insert(event.kind === kinds.acknowledged && !event.startingUp)
      val loses = insert(event.isLoss)
      val told = insert(event.kind === kinds.calculated && !calculated.ofStartup)
      val counts = insert(event.kind === kinds.calculated && !calculated.ofStartup && !calculated.stale)
      val samples = insert(event.kind === kinds.acknowledged && !event.startingUp && event.rttValid &&
        before.flight.orR && !before.roundTrip.orR)
      val requests = insert(before.roundTrip.orR && !calculating)
      val noArgument = insert(!(before.alpha.orR || before.every.orR || before.mi))
    }

    val result = Payload(PolicyAnswer(stateBits, requestBits = requestBits))
    new s3.Area {
      val after = CombInit[FastState](before).allowOverride()
      result.window := window
      when(event.rttValid)(after.flight := event.flight)
      when(judge.samples) {
        after.skips := before.every(1) && !before.skips
        when(!(before.every(1) && !before.skips)) {
          after.roundTrip := event.rtt
          after.sent := before.flight
        }
      }
      when(judge.grows) {
        result.window.cwnd := judge.grown
        after.owed := bound.owed
      }
      when(judge.told)(after.roundTrip := 0)
      when(judge.counts) {
        after.owed := 0
        when(judge.beyond.msb) {
          result.window.cwnd := judge.mean(48 downto 1)
          result.window.ssthresh := judge.mean(48 downto 1)
        } otherwise (after.owed := judge.beyond(32 downto 1).asUInt)
        when(before.mi && calculated.note(32))(after.owed.setAll())
      }
      when(judge.loses) {
        result.window.ssthresh := judge.ssthresh
        after.owed := 0
        after.roundTrip := 0
      }
      when(judge.opens) {
        after.owed := 0
        after.flight := 0
        after.sent := 0
        after.roundTrip := 0
        after.skips := False
        when(judge.noArgument) {
          after.alpha := 100
          after.every := 1
        }
      }
      result.policyState := after.asBits
    }

    new s3.Area {
      val request = QueueShareRequest()
      request.window := before.sent
      request.total := before.roundTrip.resized
      request.count := 1
      request.base := event.rttMinimum
      result.calculation.valid := judge.requests
      result.calculation.operands := request.asBits
      result.calculation.note := (bound.noQueue.asUInt @@ before.sent).asBits.resized
    }
  }.result

  private case class FastState() extends Bundle {
    /** The argument. */
    val alpha = UInt(16 bits)
    val every = UInt(2 bits)
    val mi = Bool()
    /** Bytes that the window still grows by. */
    val owed = UInt(32 bits)
    /** The flight with the last sample, bytes; zero: none yet. */
    val flight = UInt(32 bits)
    /** wOld and RTT (ns) of the sample whose q is not known; zero: there is none. */
    val sent = UInt(32 bits)
    val roundTrip = UInt(36 bits)
    /** The sample before did not count. */
    val skips = Bool()
  }
}
