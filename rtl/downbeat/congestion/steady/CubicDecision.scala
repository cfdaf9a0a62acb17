// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** CUBIC's decisions for an event, from the third node on.
  *
  * @param belowMax cwnd < W_max, from the second node on
  * @param acked    bytes acknowledged and not accounted for, from the second node on
  */
class CubicDecision(
    pipe: PolicyPipe, before: Payload[CubicState], time: CubicTime, belowMax: Payload[Bool], acked: Payload[UInt])
    extends Area {
  import pipe._
  private val (kinds, phases) = (CongestionEventKind, CubicPhase)

  private val judge = new s2.Area {
    private val calculates = event.kind === kinds.calculated && !calculated.ofStartup
    private val isRoot = !calculated.note.orR
    private val growing = calculates && !isRoot && before.phase === phases.grows
    val opens = insert(event.kind === kinds.established)
    val acknowledges = insert(event.kind === kinds.acknowledged)
    val avoids = insert(event.kind === kinds.acknowledged && !event.startingUp)
    val loses = insert(event.isLoss)
    val timesOut = insert(event.kind === kinds.timeout)
    val resumes = insert(event.kind === kinds.sent && !event.flight.orR)
    val rooted = insert(calculates && !calculated.stale && isRoot && before.phase === phases.begins)
    val grows = insert(growing)
    val accounts = insert(growing && !calculated.stale)
    val waits = insert(before.phase === phases.waits)
    val requested = insert(CubicState.saturated(acked, 18))
    val reno = insert(before.wEst(45 downto 16) >= before.cwndPrior)
    val requestsRoot = insert(Mux[Bool](before.phase === phases.waits, belowMax, before.phase === phases.begins))
    private val requestsGrowth = before.phase === phases.grows && time.busy && acked.orR
    val requests = insert(
      event.kind === kinds.acknowledged && !event.startingUp && !calculating && (requestsRoot || requestsGrowth))
  }

  val opens: Payload[Bool] = judge.opens
  val acknowledges: Payload[Bool] = judge.acknowledges
  /** New data is acknowledged in congestion avoidance. */
  val avoids: Payload[Bool] = judge.avoids
  val loses: Payload[Bool] = judge.loses
  val timesOut: Payload[Bool] = judge.timesOut
  /** A segment leaves after a time in which nothing was in flight. */
  val resumes: Payload[Bool] = judge.resumes
  /** The response is K. */
  val rooted: Payload[Bool] = judge.rooted
  /** The response is a growth, which counts for the window; and for the bytes accounted for. */
  val grows: Payload[Bool] = judge.grows
  val accounts: Payload[Bool] = judge.accounts
  /** No epoch has begun. */
  val waits: Payload[Bool] = judge.waits
  /** W_est >= cwnd_prior: alpha is 1 (4.3). */
  val reno: Payload[Bool] = judge.reno
  /** A request is due, and it is one for K. */
  val requests: Payload[Bool] = judge.requests
  val requestsRoot: Payload[Bool] = judge.requestsRoot
  /** Bytes of the request. */
  val requested: Payload[UInt] = judge.requested
}
