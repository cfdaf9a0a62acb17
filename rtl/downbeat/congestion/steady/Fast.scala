// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.QueueShare
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** FAST TCP (Wei, Jin, Low and Hegde 2006; Iguchi, thesis, equation 19, with p = 1/2).
  *
  * With the first sample of each round trip, or with every second such one:
  * {{{
  * q = wOld (RTT - base) / RTT                       (QueueShare)
  * w = (cwnd + wOld - q + alpha SMSS) / 2
  * }}}
  * wOld is the flight when the sample before came, about when the timed segment left. base is the connection's smallest
  * round trip. A smaller w counts at once, and ssthresh goes with it, or start-up would take over. A larger w is
  * `owed`: an ACK of N new bytes adds min(N, owed), so that the window at most doubles in a round trip, as in the
  * paper. In equilibrium alpha segments wait in the queue. A loss is Reno's, and leaves ssthresh as wOld of the next
  * sample.
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
  override def state: Bundle = FastState()
  override val calculator: Option[Calculator] = Some(QueueShare)
  /** Less queue than this is none, ns. */
  private val noQueue = 750000

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(FastState())

    val target = new Target(pipe, before)
    val growth = new Growth(pipe, before)

    val add = new s0.Area {
      val queued = insert(before.roundTrip - event.rttMinimum)
      /** A small segment's sample may be below the smallest of full ones. */
      val isBelow = insert(before.roundTrip < event.rttMinimum)
      val twoSegments = insert((event.segmentSize << 1).resize(32))
    }

    val bound = new s1.Area {
      val half = insert(event.flight |>> 1)
      val halfIsLess = insert((event.flight |>> 1) < add.twoSegments)
      val noQueue = insert(add.isBelow || add.queued < Fast.noQueue)
    }

    val judge = new s2.Area {
      val ssthresh = insert(Mux[UInt](bound.halfIsLess, add.twoSegments, bound.half))
      val opens = insert(event.kind === kinds.established)
      val grows = insert(event.kind === kinds.acknowledged && !event.startingUp)
      val loses = insert(event.isLoss)
      val restarts = insert(event.kind === kinds.restart)
      val responds = insert(event.kind === kinds.calculated && !calculated.ofStartup)
      val counts = insert(event.kind === kinds.calculated && !calculated.ofStartup && !calculated.stale)
      val samples = insert(event.kind === kinds.acknowledged && !event.startingUp && event.rttValid &&
        event.rttFirst && before.flight.orR && !before.roundTrip.orR)
      val requests = insert(before.roundTrip.orR && !calculating)
      val noArgument = insert(!(before.alpha.orR || before.every.orR || before.mi))
    }

    val result = Payload(PolicyResult(stateBits, requestBits = requestBits))
    new s3.Area {
      val after = CombInit[FastState](before).allowOverride()
      result.window := window
      when(event.rttValid && event.rttFirst)(after.flight := event.flight)
      when(judge.samples) {
        after.skips := before.every(1) && !before.skips
        when(!(before.every(1) && !before.skips)) {
          after.roundTrip := event.rtt
          after.wOld := before.flight
        }
      }
      when(judge.grows) {
        result.window.cwnd := growth.cwnd
        after.owed := growth.owed
      }
      when(judge.responds)(after.roundTrip := 0)
      when(judge.counts) {
        after.owed := target.owed
        when(before.mi && calculated.note(32)) {
          after.owed.setAll()
        } elsewhen (target.isSmaller) {
          result.window.cwnd := target.w
          result.window.ssthresh := target.w
          after.owed := 0
        }
      }
      when(judge.loses) {
        result.window.ssthresh := Window.ofBytes(judge.ssthresh)
        after.owed := 0
        after.flight := judge.ssthresh
        after.roundTrip := 0
      }
      when(judge.restarts)(after.owed := 0)
      when(judge.opens)(after.restart(judge.noArgument))
      result.policyState := after.asBits
      result.calculation.assign(judge.requests,
        QueueShare.request(before.wOld, before.roundTrip.resize(48), U(1, 12 bits), event.rttMinimum),
        note = (bound.noQueue.asUInt @@ before.wOld).asBits.resize(Calculation.noteBits))
    }
  }.result

  /** w = (cwnd + wOld - q + alpha SMSS) / 2, from the response q and its note wOld. */
  private class Target(pipe: PolicyPipe, before: Payload[FastState]) extends Area {
    import pipe._
    private val subtract = new s0.Area {
      val kept = insert(calculated.note(31 downto 0).asUInt.resize(33).asSInt -
        calculated.response(31 downto 0).asUInt.resize(33).asSInt)
      val alpha = insert(before.alpha * event.segmentSize)
    }
    private val add = new s1.Area {
      val target = insert(subtract.kept.resize(35) + subtract.alpha.resize(35).asSInt)
    }
    private val mean = new s2.Area {
      val beyond = insert(add.target.resize(36) - window.cwnd(47 downto 16).resize(36).asSInt)
      val twice = insert(((add.target @@ S(0, 16 bits)).resize(52) + window.cwnd.resize(52).asSInt).asUInt)
    }
    private val choose = new s3.Area {
      val isSmaller = mean.beyond.msb
      val w = mean.twice(48 downto 1)
      val owed = mean.beyond(32 downto 1).asUInt
    }
    /** w < cwnd; on the last node, as the next two. */
    val isSmaller: Bool = choose.isSmaller
    /** Bytes with 16 fraction bits. */
    val w: UInt = choose.w
    /** w - cwnd, bytes, where w is not smaller. */
    val owed: UInt = choose.owed
  }

  /** An ACK of N new bytes adds min(N, owed). */
  private class Growth(pipe: PolicyPipe, before: Payload[FastState]) extends Area {
    import pipe._
    private val subtract = new s0.Area {
      val owes = insert(event.ackedBytes < before.owed)
      val left = insert(before.owed - event.ackedBytes)
    }
    private val choose = new s1.Area {
      val growth = insert(Window.ofBytes(Mux[UInt](subtract.owes, event.ackedBytes, before.owed)))
      val owed = insert(Mux[UInt](subtract.owes, subtract.left, U(0, 32 bits)))
    }
    private val add = new s2.Area {
      val cwnd = insert(window.cwnd + choose.growth)
    }
    /** From the third node on. */
    val cwnd: Payload[UInt] = add.cwnd
    /** From the second node on. */
    val owed: Payload[UInt] = choose.owed
  }

  private case class FastState() extends Bundle {
    /** The argument. */
    val alpha = UInt(16 bits)
    val every = UInt(2 bits)
    val mi = Bool()
    /** Bytes that the window still grows by. */
    val owed = UInt(32 bits)
    /** The flight with the last sample or after a loss, bytes; zero: none yet. */
    val flight = UInt(32 bits)
    /** wOld and RTT (ns) of the sample whose q is not known; zero: there is none. */
    val wOld = UInt(32 bits)
    val roundTrip = UInt(36 bits)
    /** The sample before did not count. */
    val skips = Bool()

    /** All but the argument begins again; the default argument is used where the connection gives none. */
    def restart(noArgument: Bool): Unit = {
      owed := 0
      flight := 0
      wOld := 0
      roundTrip := 0
      skips := False
      when(noArgument) {
        alpha := 100
        every := 1
      }
    }
  }
}
