// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.engine.pipeline.EnginePipeline
import downbeat.time.Instant
import spinal.core._
import spinal.lib.misc.pipeline._

/** The timer of a connection: retransmission (RFC 6298), or persist when nothing is outstanding (RFC 9293 3.8.6.1).
  *
  * [[RoundTrip]] gives the timeout, [[Expiries]] the meaning of an expiry, `loss` the restarts.
  */
class RecoveryTimer(
    val view: RecoveryView, pipeline: EnginePipeline, loss: LossDetection, tail: TailLossProbe)
    extends Area {
  import view._
  import signals._
  private val maximumRto = U(Instant.nanoseconds(config.maximumRto), 39 bits)

  val compare = new s0.Area {
    val untilDeadline = insert(before.deadline.since(NOW)) // signed
    val unsent = insert(WRITTEN.since(UNACKNOWLEDGED))
    val narrow = insert(SEND_WINDOW < SEGMENT_SIZE)
    val smallWindow = insert(SEND_WINDOW.resize(16))
  }

  private val expire = new s1.Area {
    val deadline = insert(NOW + compare.untilDeadline)
    val ahead = insert(!compare.untilDeadline.msb && compare.untilDeadline.orR)
    val expired = insert(event.isTimer && event.live && before.armed && !ahead)
    /** Data or FIN waits, the window does not take it, and nothing is in flight that could open the window. */
    val blocked = insert(!OUTSTANDING.orR && (compare.unsent.orR || FINISHING) && !compare.unsent.msb &&
      (event.shut || compare.narrow && compare.smallWindow < compare.unsent))
  }

  val expiries = new Expiries(view, expire.expired)
  val timedOut: Payload[Bool] = expiries.meaning.timedOut
  /** RTO, ns, neither backed off nor bounded above; on step 2. */
  def rto: Payload[UInt] = roundTrip.timeout
  private val breaksTiming = Payload(Bool())
  private val roundTrip = new RoundTrip(view, pipeline, timedOut, breaksTiming)

  private val backOff = new s2.Area {
    val doublings = insert(Mux[UInt](expiries.timer.persists, expiries.meaning.count, roundTrip.backOff))
  }
  private val backedOff = new s3.Area {
    val timeout = insert(Mux[UInt](roundTrip.sampled && !expiries.timer.persists, roundTrip.timeout.resize(54),
        roundTrip.timeout.resize(54) |<< backOff.doublings))
  }

  private val decide = new s4.Area {
    val rto = insert(Mux(backedOff.timeout > maximumRto, maximumRto, backedOff.timeout.resize(39)))
    private val needed = event.live && (flight.any || expire.blocked) || OPENING
    private val arms = needed && !before.armed
    /** The timer starts: RFC 6298 5.1, 5.3 and 5.6; RFC 8985 7.3; of partial ACKs only the first restarts it (RFC 6582 3.2). */
    val starts = insert(expire.expired || tail.sent || expiries.timer.resumes || loss.count.restartsTimer || arms ||
      ADVANCED && !(loss.ack.partial && before.partial && !SELECTIVE))
    val rounded = insert(NOW + U((1 << config.deadlineUnit) - 1))
    RECOVERY_ARMED := needed && !OPENING
    /** Data is acknowledged, or begins to wait. */
    val progresses = insert(ADVANCED || OPENING || arms)
  }
  val progresses: Payload[Bool] = decide.progresses

  /** On step 5: the state after the event. */
  def update(after: RecoveryState): Unit = new s5.Area {
    breaksTiming := timedOut || loss.lost || loss.ack.partial
    RECOVERY_DEADLINE := Mux[Instant](decide.starts, (decide.rounded + decide.rto).whole(config.deadlineUnit),
      expire.deadline)
    after.armed := RECOVERY_ARMED
    after.deadline := RECOVERY_DEADLINE.low(config.deadlineBits, config.deadlineUnit)
    after.expiries := expiries.after
    after.roundTrip := roundTrip.after
  }
}
