// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.config.DownbeatConfig
import downbeat.time.{Instant, NearInstant}
import spinal.core._
import spinal.lib.misc.pipeline._

/** Purpose of the timer before the retransmission timeout (RFC 8985 8: one timer for both). */
object EarlyPurpose extends SpinalEnum {
  val none, tailLossProbe, reordering = newElement()
}

/** The deadline before the retransmission timeout. */
case class EarlyTimerState(config: DownbeatConfig) extends Bundle {
  val purpose = EarlyPurpose()
  val deadline = NearInstant(config.deadlineBits, config.deadlineUnit)
}

/** The timer of [[TailLossProbe]] and [[Rack]]. An expiry of the retransmission timer, `timedOut` on step 2, stops it.
  */
class EarlyTimer(val view: RecoveryView) extends Area {
  import view._
  import signals._

  private val compare = new s0.Area {
    val until = insert(before.early.deadline.since(NOW)) // signed
  }
  private val expire = new s1.Area {
    val deadline = insert(NOW + compare.until)
    private val ahead = !compare.until.msb && compare.until.orR
    val expired =
      insert(event.isTimer && event.live && before.early.purpose =/= EarlyPurpose.none && !ahead)
  }
  val expired: Payload[Bool] = expire.expired
  /** ns up to the deadline, also when that has passed: signed, on step 0. */
  val until: Payload[UInt] = compare.until

  /** On step 5: the state after the event, and the deadline. `interval`: ns from now, chosen on step 4. */
  def update(
      after: RecoveryState, timedOut: Payload[Bool], probes: Bool, reorders: Bool, stops: Bool,
      interval: Payload[UInt]): Unit = new s5.Area {
    private val starts = probes || reorders
    private val rounded = NOW + U((1 << config.deadlineUnit) - 1)
    after.early.purpose := before.early.purpose
    when(expired || stops || OPENING || timedOut || RESUMED || !flight.any)(after.early.purpose := EarlyPurpose.none)
    when(probes)(after.early.purpose := EarlyPurpose.tailLossProbe)
    when(reorders)(after.early.purpose := EarlyPurpose.reordering)
    EARLY_DEADLINE := Mux[Instant](starts, (rounded + interval).whole(config.deadlineUnit), expire.deadline)
    EARLY_ARMED := after.early.purpose =/= EarlyPurpose.none
    after.early.deadline := EARLY_DEADLINE.low(config.deadlineBits, config.deadlineUnit)
  }
}
