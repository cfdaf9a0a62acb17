// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.{MissWindow, MissWindowRequest, MissWindowResponse}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The phases of RFC 9959, 3; `normal`: Careful Resume is over, or was never begun. */
object ResumePhase extends SpinalEnum {
  val normal, reconnaissance, unvalidated, validating, retreat = newElement()
}

/** What Careful Resume keeps: first its argument, then the jump. */
case class ResumeState() extends Bundle {
  /** saved_cwnd and max_jump, segments, 16 bits each; from the jump on PipeSize, bytes. */
  val saved = UInt(32 bits)
  /** saved_rtt, ns. */
  val rtt = UInt(36 bits)
  val phase = ResumePhase()
  /** The newest round trip, ns; in the jump the gap between two segments, 8 fraction bits. */
  val newest = UInt(44 bits)
  /** Bytes that must be acknowledged before the phase ends: the initial data, what was in flight before the jump, what
    * was in flight behind it.
    */
  val left = UInt(32 bits)
  /** When the jump has taken a round trip, ns. */
  val deadline = UInt(48 bits)
  /** The first ACK has come; the gap is asked for; the window is to become PipeSize with the next ACK. */
  val acknowledged, asks, settles = Bool()

  def savedWindow: UInt = saved(15 downto 0)
  def maxJump: UInt = saved(31 downto 16)
}

/** Careful Resume (RFC 9959): a connection jumps to half of the window that an earlier one had on this path.
  *
  * Reconnaissance is slow start. When all initial data is acknowledged, the smallest round trip is above saved_rtt / 2
  * and at most 10 saved_rtt, and half of cwnd is in use, jump_cwnd = min(max_jump, saved_cwnd / 2) is taken if it is
  * above cwnd. In the unvalidated phase segments leave R / jump_cwnd apart, R the newest round trip. It ends when the
  * window is used up, an unvalidated segment is acknowledged or R has gone: cwnd becomes what is in flight, or PipeSize
  * if that is more, and then Careful Resume is over. Validating is slow start until what was in flight is acknowledged;
  * then ssthresh = cwnd: congestion avoidance (3.8).
  *
  * A loss or a mark in either phase leaves at most PipeSize / 2, whatever the steady policy says ([[Policy.bounds]]). A
  * round trip of saved_rtt / 2 or less does so at once, and cwnd stays until all that was sent is acknowledged. A
  * timeout ends Careful Resume (3.7).
  *
  * The host keeps the saved parameters: one user at a time, their lifetime, their removal
  * (docs/reference/estimator.md).
  */
object Resume extends StartupPolicy {
  val name = "resume"
  override val arguments: Arguments = Arguments(
    Seq(
      Argument("saved", 16, unit = "segments", min = 1),
      Argument("maxJump", 16, unit = "segments", min = 1),
      Argument("rtt", 36, unit = "ns", min = 1)),
    needed = true)
  val stateBits = 198
  override val paces = true
  override val comparesRoundTrips = true
  override val bounds = true
  override val calculator: Option[Calculator] = Some(MissWindow)

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    private val phases = ResumePhase

    val slowStart = new SlowStart(pipe)
    val before = stateBefore(ResumeState())

    val read = new s0.Area {
      private val half = before.savedWindow >> 1
      val jump = insert(Mux[UInt](before.maxJump < half, before.maxJump, half.resize(16)))
      val pipeSize = insert(before.saved + event.ackedBytes)
      val left = insert(before.left.resize(33) - event.ackedBytes.resize(33)) // signed
      val late = insert(before.deadline - now.ns) // signed
      val tenfold = insert((before.rtt << 3).resize(40) + (before.rtt << 1).resize(40))
      val twoSegments = insert((event.segmentSize << 1).resize(17))
      private val response = calculated.response.resize(MissWindow.responseBits).as(MissWindowResponse())
      val gap = insert(response.gap)
    }

    val measure = new s1.Area {
      val flight = insert(event.flight.resize(33) - event.ackedBytes.resize(33)) // after it; signed
      val filled = insert(event.flight.resize(33) + read.twoSegments)
      val sent = insert(event.flight.resize(33) + event.segmentSize)
      val jump = insert(read.jump * event.segmentSize)
      val small = insert(!(before.rtt < (event.rttMinimum << 1)) || event.rttMinimum.andR)
      val large = insert(read.tenfold < event.rttMinimum.resize(40))
      val changed = insert(event.rttValid && !(before.rtt < (event.rtt << 1)))
      val used = insert(!((event.flight << 1).resize(33) < window.cwnd(47 downto 16)))
      val covered = insert(before.acknowledged && (read.left.msb || !read.left.orR))
      val deadline = insert(now.ns + calculated.note.asUInt)
      private val half = read.pipeSize |>> 1
      val halfLess = insert(half - 1)
      val halfZero = insert(!half.orR)
      val pipeSmall = insert(read.pipeSize < slowStart.initial)
    }

    val compare = new s2.Area {
      private val acknowledges = event.kind === kinds.acknowledged
      private val sends = event.kind === kinds.sent
      private val response = event.kind === kinds.calculated && calculated.ofStartup
      private val phase = before.phase
      private val over = read.late.msb
      private val none = measure.flight.msb || !measure.flight.orR
      val opens = insert(event.kind === kinds.established)
      val acks = insert(acknowledges)
      /** All initial data is acknowledged; with the first ACK it is what was in flight. */
      private val confirmed = acknowledges && (measure.covered || !before.acknowledged && none)
      private val recon = phase === phases.reconnaissance
      val refuses = insert(recon && confirmed && (measure.small || measure.large))
      val requests = insert(recon && (confirmed && measure.used || before.asks && acknowledges) && !calculating &&
        !measure.small && !measure.large)
      val answers = insert(recon && response && before.asks)
      val jumps = insert(!calculated.stale && window.cwnd(47 downto 16) < measure.jump)
      // The unvalidated phase
      private val unvalidated = phase === phases.unvalidated
      val changes = insert(unvalidated && acknowledges && measure.changed)
      val fills = insert(unvalidated && sends && measure.filled > window.cwnd(47 downto 16).resize(33))
      val ends = insert(unvalidated && acknowledges && (before.settles || read.left.msb || over))
      val slack = insert(measure.flight.msb || measure.flight < slowStart.initial.resize(33) ||
        !(read.pipeSize.resize(33) < measure.flight))
      val sentSlack = insert(!(read.pipeSize.resize(33) < measure.sent))
      val drained = insert((phase === phases.validating || phase === phases.retreat) && acknowledges &&
        (read.left.msb || !read.left.orR))
      val loses = insert(event.isLoss)
      val retreats = insert(event.kind === kinds.loss && (unvalidated || phase === phases.validating))
      /** A byte less than half of PipeSize: below ssthresh, where nothing but this policy can raise it. */
      val belowHalf = insert(Mux[UInt](measure.halfZero, U(0, 32 bits), measure.halfLess))
      val stops = insert(event.kind === kinds.restart)
    }

    val result = Payload(PolicyAnswer(stateBits, paces, requestBits, bounds))
    new s3.Area {
      private val half = Window.ofBytes(read.pipeSize |>> 1)
      val after = ResumeState()
      after := before
      result.window := slowStart.windowAfter
      private def keep(): Unit = result.window.cwnd := window.cwnd
      private def become(phase: SpinalEnumElement[ResumePhase.type]): Unit = after.phase := phase

      when(event.rttValid && before.phase === phases.reconnaissance)(after.newest := event.rtt.resized)
      when(compare.acks) {
        after.acknowledged := True
        after.left := read.left.msb ? U(0, 32 bits) | read.left.resize(32)
      }
      switch(before.phase) {
        is(phases.reconnaissance) {
          when(compare.acks && !before.acknowledged)(
            after.left := measure.flight.msb ? U(0) | measure.flight.resize(32))
          when(compare.requests)(after.asks := True)
          when(compare.refuses)(become(phases.normal))
          when(compare.answers) {
            become(phases.normal)
            when(compare.jumps) {
              become(phases.unvalidated)
              result.window.cwnd := Window.ofBytes(measure.jump)
              after.saved := event.flight
              after.left := event.flight
              after.newest := read.gap
              after.deadline := measure.deadline
              after.settles := False
            }
          }
        }
        is(phases.unvalidated) {
          when(compare.acks) {
            after.saved := read.pipeSize
            keep()
          }
          when(compare.fills) {
            after.settles := compare.sentSlack
            when(!compare.sentSlack) {
              become(phases.validating)
              after.left := measure.sent.resize(32)
            }
          }
          when(compare.ends) {
            become(phases.validating)
            after.left := measure.flight.resize(32)
            result.window.cwnd := Window.ofBytes(measure.flight.resize(32))
            when(compare.slack || before.settles) {
              become(phases.normal)
              result.window.cwnd := Window.ofBytes(measure.pipeSmall ? slowStart.initial.resize(32) | read.pipeSize)
            }
          }
          when(compare.changes) {
            become(phases.retreat)
            after.left := measure.flight.msb ? U(0) | measure.flight.resize(32)
            result.window.ssthresh := half
            result.window.cwnd := Window.ofBytes(compare.belowHalf)
          }
        }
        is(phases.validating) {
          when(compare.acks)(after.saved := read.pipeSize)
          when(compare.drained) {
            become(phases.normal)
            result.window.ssthresh := result.window.cwnd
          }
        }
        is(phases.retreat) {
          when(compare.acks)(keep())
          when(compare.drained)(become(phases.normal))
        }
      }
      when(compare.loses || compare.stops)(become(phases.normal))
      when(compare.opens) {
        after.phase := phases.reconnaissance
        after.acknowledged := False
        after.asks := False
        after.settles := False
        after.left := 0
        after.newest := event.rttValid ? event.rtt.resize(44) | U(0, 44 bits)
      }
      result.policyState := after.asBits
      result.bounded := compare.retreats
      result.bound := (read.pipeSize |>> 1)
      result.retreats := compare.retreats || compare.changes

      result.departure := DeparturePlan.configured
      when(after.phase === phases.unvalidated) {
        result.departure.pace := Pace.apart
        result.departure.time := (after.newest << 8).resize(DeparturePlan.timeBits)
      }

      val request = MissWindowRequest()
      request.rate.setAll() // n = `maxWindow`: only its gap is wanted
      request.untilDrop.setAll()
      request.roundTrip := after.newest.resized
      request.maxWindow := read.jump
      result.calculation.valid := compare.requests
      result.calculation.operands := request.asBits
      result.calculation.note := after.newest.resize(Calculation.noteBits).asBits
    }
  }.result
}
