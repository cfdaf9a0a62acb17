// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.InlineMeasurement
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The state of a policy that sends streams of probes. */
case class InlineStreamState() extends Bundle {
  /** Segments of the stream that have left; zero: it has not begun. */
  val position = UInt(5 bits)
  /** From the latest segment to the next, ns. */
  val gap = UInt(32 bits)
  /** An odd number of segments is in flight: the next one completes a pair, whose ACK a receiver does not delay. */
  val odd = Bool()
  /** A loss has not been repaired yet. */
  val repairs = Bool()
}

/** Sends the streams of probes that inline measurement wants ([[downbeat.calculation.InlineMeasurement]]): 10 segments,
  * or 19, of which every second one is a probe. The first waits until the window has space for all, and the window must
  * be 12 (20) segments at least. It leaves the first gap at least after what went before. A segment that is not what
  * the stream wants ends it, and it begins again.
  */
class InlineStream(pipe: PolicyPipe, before: Payload[InlineStreamState]) extends Area {
  import pipe._
  private val kinds = CongestionEventKind
  private val probes = InlineMeasurement.probes

  private val prepare = new s0.Area {
    val oneSegment = insert(event.ackedBytes === event.segmentSize.resize(32))
    val noneBefore = insert(event.flight === 0)
    val threeQuarters = insert((event.segmentSize << 3) +^ (event.segmentSize << 2))
    val more = insert((event.segmentSize << 4) +^ (event.segmentSize << 2))
  }
  private val compare = new s1.Area {
    val minCwnd = event.inline.alternate ? prepare.more.resize(22) | prepare.threeQuarters.resize(22)
    val small = insert(window.cwnd(47 downto 16) < minCwnd.resize(32))
    val shorter = insert(before.gap - event.inline.step)
    val next = insert(before.position + 1)
    /** The segment that has left was to be a probe. */
    val wantsProbe = insert(!event.inline.alternate || !before.position.lsb)
  }
  private val decide = new s2.Area {
    private val sends = event.kind === kinds.sent
    val after = insert {
      val after = CombInit[InlineStreamState](before).allowOverride()
      when(sends) {
        after.odd := Mux(prepare.noneBefore, True, !before.odd)
        when(before.position === 0) {
          when(event.sentProbe) {
            after.position := 1
            after.gap := event.inline.gap
          }
        } elsewhen (compare.wantsProbe === event.sentProbe) {
          after.position := compare.next
          when(event.sentProbe)(after.gap := compare.shorter)
        } otherwise (after.position := 0)
      }
      when(event.kind === kinds.acknowledged) {
        after.repairs := False
        when(prepare.oneSegment)(after.odd := !before.odd)
      }
      when(event.isLoss)(after.repairs := True)
      when(!event.inline.valid || event.isLoss)(after.position := 0)
      when(event.kind === kinds.established)(after.assignFromBits(B(0, widthOf(after) bits)))
      after
    }
  }
  val after: Payload[InlineStreamState] = decide.after

  /** How the next segment leaves while the policy `measures`; on the last node. */
  def departure(measures: Bool): DeparturePlan = new s3.Area {
    private val inline = event.inline
    private val begins = !after.position.orR
    private val mayBegin = !compare.small && !after.repairs && (!inline.alternate || after.odd)
    private val last = inline.alternate ? (after.position >= 2 * probes - 3) | (after.position === probes - 1)
    val plan = CombInit(DeparturePlan.configured).allowOverride()
    when(measures && inline.valid && (!begins || mayBegin)) {
      plan.pace := Pace.apart
      plan.time := ((begins ? inline.gap | after.gap) << 16).resized
      when(!begins && (last || !after.gap.orR)) {
        plan.pace := Pace.adjacent
        plan.time := 0 // or its frame would be launched so long behind the one before
      }
      plan.probe := !inline.alternate || !after.position.lsb
      plan.begins := begins
      when(begins)(plan.minimumSegments := inline.alternate ? U(2 * probes - 1, 6 bits) | U(probes, 6 bits))
    }
  }.plan
}
