// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import spinal.core._
import spinal.lib.misc.pipeline._

/** Consecutive expiries of a connection's timer. */
case class ExpiryState() extends Bundle {
  /** Without progress, of one timer. */
  val count = UInt(4 bits)
  /** The timer is the persist timer; otherwise it is the retransmission timer. */
  val persisting = Bool()
  /** Without a segment from the peer. */
  val silent = UInt(4 bits)
}

/** Says what an expiry means: data is lost, or a zero window is to be probed; and whether the connection ends (RFC 9293
  * 3.8.3, R2). `expired` is known on step 1.
  */
class Expiries(val view: RecoveryView, expired: Payload[Bool]) extends Area {
  import view._
  import signals._
  private def next(count: UInt): UInt = Mux(count === 15, count, count + 1)

  val timer = new s1.Area {
    /** After the event the timer is the persist timer (RFC 9293 3.8.6.1). */
    val persists = insert(event.shut || !flight.any)
    /** It was the persist timer, and is not any more. */
    val resumes = insert(before.expiries.persisting && !persists)
  }

  val meaning = new s2.Area {
    val probes = insert(expired && timer.persists)
    val timedOut = insert(expired && !timer.persists)
    /** Consecutive expiries of this timer. The probes of a zero window sent no data again. */
    val consecutive = insert(Mux(timer.resumes, U(0, 4 bits), before.expiries.count))
    val count = insert(Mux(ADVANCED || OPENING, U(0, 4 bits), Mux[UInt](expired, next(consecutive), consecutive)))
    val silent = insert(
      Mux(event.isSegment || OPENING, U(0, 4 bits), Mux(expired, next(before.expiries.silent), before.expiries.silent)))
  }

  val verdict = new s3.Area {
    val isFirst = insert(!meaning.consecutive.orR)
    private val limit = U(config.retransmissions min 15, 4 bits)
    /** The connection ends. */
    val givesUp =
      insert(meaning.timedOut && meaning.consecutive === limit || meaning.probes && before.expiries.silent === limit)
  }

  /** On step 5. */
  val after = ExpiryState()
  private val update = new s5.Area {
    after.count := meaning.count
    after.persisting := timer.persists
    after.silent := meaning.silent
  }
}
