// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The unvalidated phase (RFC 9959 3.4): it ends when the window is used up, an unvalidated segment is acknowledged or
  * a round trip has gone. A round trip of saved_rtt / 2 or less is a changed path: retreat.
  *
  * @param initial the initial window, bytes, from the first node on
  */
class ResumeUnvalidated(
    pipe: PolicyPipe, before: Payload[ResumeState], path: ResumePath, initial: Payload[UInt]) extends Area {
  import pipe._
  private val (kinds, phases) = (CongestionEventKind, ResumePhase)

  private val read = new s0.Area {
    val late = insert(before.deadline - now.ns) // signed
    val twoSegments = insert((event.segmentSize << 1).resize(17))
  }
  private val measure = new s1.Area {
    val filled = insert(event.flight.resize(33) + read.twoSegments)
    val sent = insert(event.flight.resize(33) + event.segmentSize)
    val changed = insert(event.rttValid && !(before.savedRtt < (event.rtt << 1)))
    private val half = path.pipeSize |>> 1
    val halfLess = insert(half - 1)
    val halfZero = insert(!half.orR)
    val pipeSmall = insert(path.pipeSize < initial)
  }
  private val judge = new s2.Area {
    private val here = before.phase === phases.unvalidated
    private val flight = path.flightSigned
    val acks = insert(event.kind === kinds.acknowledged)
    val changes = insert(here && event.kind === kinds.acknowledged && measure.changed)
    val fills = insert(here && event.kind === kinds.sent && measure.filled > window.cwnd(47 downto 16).resize(33))
    val ends = insert(here && event.kind === kinds.acknowledged &&
      (before.settles || path.leftSigned.msb || read.late.msb))
    val slack = insert(flight.msb || flight < initial.resize(33) || !(path.pipeSize.resize(33) < flight))
    val sentSlack = insert(!(path.pipeSize.resize(33) < measure.sent))
    /** A byte less than half of PipeSize: below ssthresh, where nothing but this policy can raise it. */
    val belowHalf = insert(Mux[UInt](measure.halfZero, U(0, 32 bits), measure.halfLess))
  }
  /** The path has changed; from the third node on. */
  val changes: Payload[Bool] = judge.changes

  /** On the last node. */
  def update(after: ResumeState, windowAfter: Window): Unit = new s3.Area {
    when(judge.acks) {
      after.saved := path.pipeSize
      windowAfter.cwnd := window.cwnd
    }
    when(judge.fills) {
      after.settles := judge.sentSlack
      when(!judge.sentSlack) {
        after.phase := phases.validating
        after.left := measure.sent.resize(32)
      }
    }
    when(judge.ends) {
      after.phase := phases.validating
      after.left := path.flightSigned.resize(32)
      windowAfter.cwnd := Window.ofBytes(path.flightSigned.resize(32))
      when(judge.slack || before.settles) {
        after.phase := phases.normal
        windowAfter.cwnd := Window.ofBytes(measure.pipeSmall ? initial.resize(32) | path.pipeSize)
      }
    }
    when(judge.changes) {
      after.phase := phases.retreat
      after.left := path.flight
      windowAfter.ssthresh := Window.ofBytes(path.pipeSize |>> 1)
      windowAfter.cwnd := Window.ofBytes(judge.belowHalf)
    }
  }
}
