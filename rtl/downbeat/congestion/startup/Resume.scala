// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.{MissWindow, MissWindowRequest}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

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
  override def state: Bundle = ResumeState()
  override val paces = true
  override val bounds = true
  override val calculator: Option[Calculator] = Some(MissWindow)

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    private val phases = ResumePhase
    val slowStart = new SlowStart(pipe)
    val before = stateBefore(ResumeState())
    val path = new ResumePath(pipe, before)
    val reconnaissance = new ResumeReconnaissance(pipe, before, path)
    val unvalidated = new ResumeUnvalidated(pipe, before, path, slowStart.initial)

    val judge = new s2.Area {
      private val validating = before.phase === phases.validating
      val acks = insert(event.kind === kinds.acknowledged)
      val drained = insert((validating || before.phase === phases.retreat) && event.kind === kinds.acknowledged &&
        path.isDrained)
      val retreats = insert(event.kind === kinds.loss && (before.phase === phases.unvalidated || validating))
      val normal = insert(event.isLoss || event.kind === kinds.restart)
      val opens = insert(event.kind === kinds.established)
    }

    val result = Payload(PolicyResult(stateBits, paces, requestBits, bounds))
    new s3.Area {
      val after = ResumeState()
      after := before
      result.window := slowStart.windowAfter
      when(judge.acks) {
        after.acknowledged := True
        after.left := path.left
      }
      switch(before.phase) {
        is(phases.reconnaissance)(reconnaissance.update(after, result.window))
        is(phases.unvalidated)(unvalidated.update(after, result.window))
        is(phases.validating) {
          when(judge.acks)(after.saved := path.pipeSize)
          when(judge.drained) {
            after.phase := phases.normal
            result.window.ssthresh := result.window.cwnd
          }
        }
        is(phases.retreat) {
          when(judge.acks)(result.window.cwnd := window.cwnd)
          when(judge.drained)(after.phase := phases.normal)
        }
      }
      when(judge.normal)(after.phase := phases.normal)
      when(judge.opens)(after.begin(event.rttValid ? event.rtt | U(0, 36 bits)))
      result.policyState := after.asBits
      result.bounded := judge.retreats
      result.bound := path.pipeSize |>> 1
      result.retreats := judge.retreats || unvalidated.changes

      result.departure := DeparturePlan.configured
      when(after.phase === phases.unvalidated) {
        result.departure.pace := Pace.apart
        result.departure.time := (after.newest << 8).resize(DeparturePlan.timeBits)
      }

      val request = MissWindowRequest()
      request.rate.setAll() // n = `maxWindow`: only its gap is wanted
      request.untilDrop.setAll()
      request.roundTrip := after.newest.resized
      request.maxWindow := path.jumpSegments
      result.calculation.assign(reconnaissance.requests, request,
        note = after.newest.resize(Calculation.noteBits).asBits)
    }
  }.result
}
