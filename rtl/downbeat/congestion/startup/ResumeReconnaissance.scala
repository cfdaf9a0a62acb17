// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.{MissWindow, MissWindowResponse}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Reconnaissance (RFC 9959 3.2, 3.3): the path is confirmed when all initial data is acknowledged. It is the saved one
  * if saved_rtt / 2 < R <= 10 saved_rtt, R the smallest round trip. Then a request gives the gap of the jump.
  */
class ResumeReconnaissance(pipe: PolicyPipe, before: Payload[ResumeState], path: ResumePath) extends Area {
  import pipe._
  private val (kinds, phases) = (CongestionEventKind, ResumePhase)

  private val read = new s0.Area {
    val tenfold = insert((before.savedRtt << 3).resize(40) + (before.savedRtt << 1).resize(40))
    private val response = calculated.response.resize(MissWindow.responseBits).as(MissWindowResponse())
    val gap = insert(response.gap)
  }
  private val measure = new s1.Area {
    val small = insert(!(before.savedRtt < (event.rttMinimum << 1)) || event.rttMinimum.andR)
    val large = insert(read.tenfold < event.rttMinimum.resize(40))
    val used = insert(!((event.flight << 1).resize(33) < window.cwnd(47 downto 16)))
    val covered = insert(before.acknowledged && (path.leftSigned.msb || !path.leftSigned.orR))
    val deadline = insert(now.ns + calculated.note.asUInt)
  }
  private val judge = new s2.Area {
    private val acknowledges = event.kind === kinds.acknowledged
    private val here = before.phase === phases.reconnaissance
    private val response = event.kind === kinds.calculated && calculated.ofStartup
    /** All initial data is acknowledged; with the first ACK it is what was in flight. */
    private val confirmed = acknowledges && (measure.covered || !before.acknowledged && path.isIdle)
    val first = insert(acknowledges && !before.acknowledged)
    val refuses = insert(here && confirmed && (measure.small || measure.large))
    val requests = insert(here && (confirmed && measure.used || before.requesting && acknowledges) && !calculating &&
      !measure.small && !measure.large)
    val responds = insert(here && response && before.requesting)
    val jumps = insert(!calculated.stale && window.cwnd(47 downto 16) < path.jump)
    private val beyondJump = path.jump + event.segmentSize
    val ssthresh = insert(Mux[UInt](window.ssthresh(47 downto 16) < beyondJump, Window.ofBytes(beyondJump),
        window.ssthresh))
  }
  /** From the third node on. */
  val requests: Payload[Bool] = judge.requests

  /** On the last node. The jump is taken if it is above cwnd and nothing was lost since the request. It stays below
    * ssthresh, or the steady policy's windows would count.
    */
  def update(after: ResumeState, windowAfter: Window): Unit = new s3.Area {
    when(event.rttValid)(after.newest := event.rtt.resized)
    when(judge.first)(after.left := path.flight)
    when(judge.requests)(after.requesting := True)
    when(judge.refuses)(after.phase := phases.normal)
    when(judge.responds) {
      after.phase := phases.normal
      when(judge.jumps) {
        after.phase := phases.unvalidated
        windowAfter.cwnd := Window.ofBytes(path.jump)
        windowAfter.ssthresh := judge.ssthresh
        after.saved := event.flight
        after.left := event.flight
        after.newest := read.gap
        after.deadline := measure.deadline
        after.settles := False
      }
    }
  }
}
