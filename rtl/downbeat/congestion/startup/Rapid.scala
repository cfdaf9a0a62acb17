// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.GapWindow
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Rapid Start (Oku, draft-kazuho-ccwg-rapid-start).
  *
  * The first window leaves evenly over one round trip, that of the handshake: its segments are floor(R / n) apart. On
  * an ACK of N new bytes while cwnd < ssthresh:
  * {{{
  * rtt_floor <= min_rtt + min(4 ms, min_rtt / 10):  cwnd += 2 N        (three times as much in a round trip)
  * otherwise:                                       cwnd += N
  * }}}
  * rtt_floor is the last sample of the round trip, because the engine takes one in each. A tenth is counted as
  * 6554 / 65536 of min_rtt without its lowest 8 bits. A loss ends Rapid Start; then slow start is RFC 5681's. Without a
  * sample of the handshake the first window leaves as the connection was opened.
  *
  * The first segment leaves at once. The second waits for the gap, which is calculated in some microseconds.
  *
  * Departs from the draft: the first recovery is the stage's. So the window falls to the steady policy's ssthresh at
  * once, in place of falling with each ACK of the recovery.
  */
object Rapid extends StartupPolicy {
  val name = "rapid"
  override def state: Bundle = RapidState()
  override val paces = true
  override val calculator: Option[Calculator] = Some(GapWindow)

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(RapidState())
    val slowStart = new SlowStart(pipe)

    val queue = new RapidQueue(pipe, before)

    val bound = new s1.Area {
      val left = insert(before.left - 1)
      val anyLeft = insert(before.left.orR)
    }

    val judge = new s2.Area {
      val doubled = insert(window.cwnd + Window.ofBytes(event.ackedBytes))
      val tripled = insert(window.cwnd + Window.ofBytes((event.ackedBytes << 1).resize(32)))
      val grows = insert(event.kind === kinds.acknowledged && !before.lost)
      val opens = insert(event.kind === kinds.established)
      val leaves = insert(event.kind === kinds.sent && bound.anyLeft)
      val loses = insert(event.isLoss)
      val responds = insert(event.kind === kinds.calculated && calculated.ofStartup)
      val requests = insert(bound.anyLeft && !before.gapKnown && !calculating)
    }

    val result = Payload(PolicyResult(stateBits, paces, requestBits))
    new s3.Area {
      val after = CombInit[RapidState](before).allowOverride()
      result.window := slowStart.windowAfter
      when(judge.grows)(result.window.cwnd := Mux[UInt](queue.isShort, judge.tripled, judge.doubled))
      when(event.rttValid)(after.rttFloor := event.rtt)
      when(judge.leaves) {
        after.left := bound.left
        after.begun := True
      }
      when(judge.responds) {
        after.gap := calculated.response(GapWindow.responseBits - 1 downto 0).asUInt
        after.gapKnown := True
      }
      when(judge.loses) {
        after.lost := True
        after.left := 0
      }
      when(judge.opens) {
        after.rttFloor.setAll()
        after.gap := 0
        after.left := 0
        after.gapKnown := False
        after.begun := False
        after.lost := False
        when(event.rttValid) {
          after.rttFloor := event.rtt
          after.left := event.initialWindow
        }
      }
      result.policyState := after.asBits

      result.departure := DeparturePlan.configured
      result.departure.allowOverride()
      when(after.left.orR) {
        result.departure.pace := Pace.apart
        when(after.begun) {
          when(after.gapKnown)(result.departure.time := (after.gap << 16).resized)
            .otherwise(result.departure.minimumSegments.setAll())
        }
      }
      // R / n: the window that fits into R with a "gap" of n, in segments of a byte.
      result.calculation.assign(judge.requests, GapWindow.request(before.left.resized, before.rttFloor, U(1, 16 bits)))
    }
  }.result

  /** rtt_floor <= min_rtt + min(4 ms, min_rtt / 10). */
  private class RapidQueue(pipe: PolicyPipe, before: Payload[RapidState]) extends Area {
    import pipe._
    /** The largest threshold above min_rtt, ns. */
    private val maxRise = 4000000

    private val subtract = new s0.Area {
      val queued = insert(before.rttFloor - event.rttMinimum)
      /** A small segment's sample may be below the smallest of full ones. */
      val isBelow = insert(before.rttFloor < event.rttMinimum)
      val noFloor = insert(before.rttFloor.andR)
      /** From 67 ms on a tenth is more than 4 ms. */
      val long = insert((event.rttMinimum >> 26).orR)
      val tenth = insert((event.rttMinimum(25 downto 8) * U(6554, 13 bits)) >> 8)
    }
    private val bound = new s1.Area {
      val rise = insert(Mux[UInt](subtract.long || !(subtract.tenth < maxRise), U(maxRise, 23 bits),
          subtract.tenth.resize(23)))
    }
    private val compare = new s2.Area {
      val isShort = insert(!subtract.noFloor && (subtract.isBelow || !(bound.rise.resize(36) < subtract.queued)))
    }
    /** From the third node on. */
    val isShort: Payload[Bool] = compare.isShort
  }

  private case class RapidState() extends Bundle {
    /** rtt_floor, ns; all ones: no sample. */
    val rttFloor = UInt(36 bits)
    /** Between the segments of the first window, ns. */
    val gap = UInt(GapWindow.responseBits bits)
    /** Segments of the first window that have not left. */
    val left = UInt(8 bits)
    /** The gap is known; a segment has left; something was lost. */
    val gapKnown, begun, lost = Bool()
  }
}
