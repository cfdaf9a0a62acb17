// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Rounds and bytes since Carson's last loss event, and the limit of rounds (Kannan, thesis, 4.3.3).
  *
  * A round ends when what was in flight at its beginning is acknowledged.
  */
class CarsonRounds(pipe: PolicyPipe, before: Payload[CarsonState]) extends Area {
  import pipe._

  private val count = new s0.Area {
    val acknowledges = insert(event.ackedBytes.orR)
    val reached = insert(event.ackedBytes >= before.left)
    val begun = insert(before.left.orR)
    val left = insert(before.left - event.ackedBytes)
    val acked = insert(before.acked +| event.ackedBytes)
    val rounds = insert(before.rounds +| U(1, 16 bits))
    val limit = insert(before.factor * before.between) // quarters
  }

  private val end = new s1.Area {
    private val over = count.acknowledges && count.reached && count.begun
    val ends = insert(over)
    val rounds = insert(Mux[UInt](over, count.rounds, before.rounds))
    val expired = insert((count.rounds << 2).resize(22) >= count.limit)
    val flight = insert((event.flight -^ event.ackedBytes).asSInt)
  }

  private val next = new s2.Area {
    private val flight = end.flight.msb ? U(0, 32 bits) | end.flight.asUInt.resize(32)
    val left = insert(Mux[UInt](count.reached, flight, count.left))
    val expires = end.ends && before.armed && end.expired
  }

  /** The limit of rounds passes with this event; on the third node. */
  val expires: Bool = next.expires
  /** With this event, from the second node on. */
  val rounds: Payload[UInt] = end.rounds
  /** With this event, from the first node on. */
  val acked: Payload[UInt] = count.acked

  /** On the last node: counts what the event acknowledges. */
  def countTo(after: CarsonState): Unit = new s3.Area {
    when(count.acknowledges) {
      after.left := next.left
      after.acked := acked
      after.rounds := rounds
    }
  }

  /** On the last node: a loss event begins an interval; its limit comes from the interval that it ends. */
  def restartIn(after: CarsonState): Unit = new s3.Area {
    after.between := end.rounds
    after.acked := 0
    after.rounds := 0
  }
}
