// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Carson's decisions for an event, from the third node on (Kannan, thesis, chapter 4). */
class CarsonDecision(
    pipe: PolicyPipe, before: Payload[CarsonState], rounds: CarsonRounds, verdict: CarsonVerdict,
    decrease: MultiplicativeDecrease) extends Area {
  import pipe._
  private val kinds = CongestionEventKind

  private val judge = new s2.Area {
    val opens = insert(event.kind === kinds.established)
    val grows = insert(event.kind === kinds.acknowledged && !event.startingUp)
    val timesOut = insert(event.kind === kinds.timeout)
    val loses = insert(event.isLoss)
    private val separate = event.kind === kinds.loss || rounds.rounds(15 downto 1).orR || !before.seen
    val losesApart = insert(loses && separate)
    private val silent = rounds.expires && event.kind =/= kinds.loss && event.kind =/= kinds.timeout
    val tooLong = insert(silent)

    private val calculates = event.kind === kinds.calculated
    private val responds =
      calculates && !calculated.ofStartup && before.pending && !rounds.expires && !calculated.stale
    val response = insert(responds)
    private val advances = responds && verdict.checks && verdict.full && !before.row.andR && !verdict.unsteady
    private val milder = window.ssthresh(47 downto 16) < decrease.kept
    val decreases = insert(loses || advances && milder)
    val requests = insert(
      !calculates && !calculating && event.kind =/= kinds.established && event.kind =/= kinds.timeout && !silent &&
        Mux(loses && separate, before.seen, before.pending))
  }

  val opens: Payload[Bool] = judge.opens
  /** New data is acknowledged in congestion avoidance. */
  val grows: Payload[Bool] = judge.grows
  val timesOut: Payload[Bool] = judge.timesOut
  val loses: Payload[Bool] = judge.loses
  /** The loss is a loss event: it is not of the round of the one before. */
  val losesApart: Payload[Bool] = judge.losesApart
  /** There was no loss for too many rounds (4.3.3). */
  val tooLong: Payload[Bool] = judge.tooLong
  /** The response counts. */
  val response: Payload[Bool] = judge.response
  /** The window is cut: after a loss, or again by the milder b of a new row. */
  val decreases: Payload[Bool] = judge.decreases
  val requests: Payload[Bool] = judge.requests
}
