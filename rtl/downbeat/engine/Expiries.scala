// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib.misc.pipeline._

/** Expiries of a connection's timer, one behind the other. */
case class ExpiryState() extends Bundle {
  /** Without progress, of one timer. */
  val count = UInt(4 bits)
  /** That is the persist timer; otherwise it is the retransmission timer. */
  val persisting = Bool()
  /** Without a word from the peer. */
  val silent = UInt(4 bits)
}

/** What an expiry means: that data is lost, or that a shut window is to be probed; and whether it is one too many (RFC 9293 3.8.3, R2).
  * `expired` and `something` (SND.UNA is not SND.MAX) are known on step 1, `shut` (the peer takes nothing) and `heard` on step 0.
  */
class Expiries(
    config: DownbeatConfig, signals: Signals, before: Payload[RecoveryState], s1: Node, s2: Node, s3: Node, s5: Node,
    expired: Payload[Bool], something: Payload[Bool], shut: Payload[Bool], heard: Payload[Bool])
    extends Area {
  import signals._
  private def past(node: Node): ExpiryState = node(before).expiries
  private def next(count: UInt): UInt = (count === 15) ? count | count + 1

  /** The timer is the persist timer after this event; it was, and is not any more. */
  val persists = s1.insert(s1(shut) || !s1(something))
  val resumes = s1.insert(past(s1).persisting && !s1(persists))
  val probes = s2.insert(s2(expired) && s2(persists))
  val timedOut = s2.insert(s2(expired) && !s2(persists))
  /** No data was sent again for the probes of a window that was shut. */
  private val inRow = s2.insert(s2(resumes) ? U(0, 4 bits) | past(s2).count)
  /** It is the first. */
  val isFirst = s3.insert(!s3(inRow).orR)
  val count = s2.insert((s2(ADVANCED) || s2(OPENING)) ? U(0, 4 bits) | (s2(expired) ? next(s2(inRow)) | s2(inRow)))
  private val silent = s2.insert((s2(heard) || s2(OPENING)) ? U(0, 4 bits) | (s2(expired) ? next(past(s2).silent) | past(s2).silent))

  private val last = U(config.retransmissions min 15, 4 bits)
  /** The connection ends. */
  val givesUp = s3.insert(s3(timedOut) && s3(inRow) === last || s3(probes) && past(s3).silent === last)

  /** On step 5. */
  val after = ExpiryState()
  after.count := s5(count)
  after.persisting := s5(persists)
  after.silent := s5(silent)
}
