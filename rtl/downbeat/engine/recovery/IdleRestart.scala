// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import spinal.core._
import spinal.lib.misc.pipeline._

/** The restart after idleness (RFC 5681 4.1): data waits, nothing is outstanding, and nothing was sent for longer than
  * the RTO. Congestion receives `restart`, unless the connection keeps its window (`nssr`).
  *
  * Any event of such a connection restarts it: data that the application writes, the peer's window that opens, or a
  * persist probe. Idleness counts ticks of TSval, 2^20 ns, and those that have begun do not count.
  */
class IdleRestart(val view: RecoveryView, timer: RecoveryTimer) extends Area {
  import view._
  import signals._

  private val measure = new s0.Area {
    val since = insert(TIMESTAMP_VALUE - before.lastSent)
  }
  private val count = new s1.Area {
    val waits = insert(event.live && before.restarts && !flight.any && timer.compare.unsent.orR &&
      !timer.compare.unsent.msb)
    /** Whole ticks, once the first and the last are left out. */
    val whole = insert(measure.since - 2)
    val any = insert(measure.since(31 downto 1).orR)
  }
  private val judge = new s3.Area {
    val due = insert(count.waits && count.any && !(count.whole < (timer.rto >> 20).resize(32)))
  }
  /** From step 3 on. */
  val due: Payload[Bool] = judge.due

  private val choose = new s4.Area {
    val restarts = insert(Mux(OPENING, !PARAMETERS.nssr, before.restarts))
  }

  /** On step 5: the state after the event. Idleness begins again with a restart, and with a start of the
    * host's.
    */
  def update(after: RecoveryState, restarted: Payload[Bool]): Unit = new s5.Area {
    after.restarts := choose.restarts
    private val begins = if (config.hostStart) apply(STARTS) else False
    after.lastSent := Mux[UInt](OPENING || event.isSent || restarted || begins, TIMESTAMP_VALUE, before.lastSent)
  }
}
