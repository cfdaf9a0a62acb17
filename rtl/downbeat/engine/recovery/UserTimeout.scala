// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.messages.{ConnectionTimes, EventKind}
import downbeat.time.Instant
import spinal.core._
import spinal.lib.misc.pipeline._

/** The user timeout (RFC 9293 3.8.3): a connection ends when nothing of its data has been acknowledged for so long.
  *
  * When the application closes it, the timeout is at most `closedTimeout` from then on, since nobody is left to abort
  * it: a peer whose window stays shut would hold FIN-WAIT-1, CLOSING and LAST-ACK for ever.
  */
class UserTimeout(val view: RecoveryView, progresses: Payload[Bool]) extends Area {
  import view._
  import signals._
  private val unit = BigInt(1) << 30
  private val limit = U((Instant.nanoseconds(config.closedTimeout) + unit - 1) / unit, 16 bits)

  private val compare = new s0.Area {
    val closes = insert(event.live && KIND === EventKind.close)
    val changes = insert(event.live && KIND === EventKind.setTimes)
    val isLonger = insert(!before.userTimeout.orR || limit < before.userTimeout)
    val within = insert((NOW.ns(47 downto 30) - before.userTimeoutDeadline).msb)
  }
  private val expire = new s1.Area {
    val expired = insert(event.isTimer && event.live && before.armed && before.userTimeout.orR && !compare.within)
  }
  /** On step 1. */
  val expired: Payload[Bool] = expire.expired

  private val choose = new s4.Area {
    private val ofClosed = Mux(compare.closes && compare.isLonger, limit, before.userTimeout)
    private val kept = Mux(compare.changes, ConnectionTimes.of(LENGTH).userTimeout, ofClosed)
    val timeout = insert(Mux(OPENING, PARAMETERS.userTimeout, kept))
    val begins = insert(progresses || compare.closes || compare.changes)
  }

  /** On step 5: the state after the event. */
  def update(after: RecoveryState): Unit = new s5.Area {
    USER_TIMEOUT_ARMED := RECOVERY_ARMED && choose.timeout.orR
    // One more, because the present unit has begun.
    val deadline = insert(Mux(choose.begins, NOW.ns(47 downto 30) + choose.timeout + 1, before.userTimeoutDeadline))
    USER_TIMEOUT_DEADLINE := Instant(deadline @@ U(0, 30 bits))
    after.userTimeout := choose.timeout
    after.userTimeoutDeadline := deadline
  }
}
