// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import spinal.core._
import spinal.lib.misc.pipeline._

/** A policy state with a round in it. */
trait RoundState { this: Bundle =>
  /** Bytes to be acknowledged until the round ends; zero: none has begun. */
  def left: UInt
}

/** Rounds counted in bytes: one ends when the data that was outstanding at its beginning is acknowledged. The event has
  * no sequence numbers: windowEnd - SND.UNA is the flight that the first ACK of the round left, less all bytes
  * acknowledged since. The ACK that ends a round belongs to it. A round that begins with nothing outstanding ends with
  * the next ACK, as in ns-2's agent.
  */
class ByteRound[S <: Bundle with RoundState](pipe: PolicyPipe, before: Payload[S]) extends Area {
  import pipe._

  private val compare = new s0.Area {
    val reached = insert(event.ackedBytes >= before.left)
    val begun = insert(before.left.orR)
    val left = insert(before.left - event.ackedBytes)
  }
  private val add = new s1.Area {
    val flight = insert(event.flight - event.ackedBytes)
    val isEmpty = insert(event.flight === event.ackedBytes)
  }
  private val judge = new s2.Area {
    val ends = insert(compare.reached && compare.begun)
    // One byte is outstanding at least: the next ACK then ends the round.
    val left = insert(Mux[UInt](compare.reached, add.flight | add.isEmpty.asUInt.resized, compare.left))
  }
  /** An ACK with this event's bytes ends the round; from the third node on. */
  val ends: Payload[Bool] = judge.ends
  /** After such an ACK, from the third node on. */
  val left: Payload[UInt] = judge.left
}
