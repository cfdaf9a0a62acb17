// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.messages.TcpState
import downbeat.time.Instant
import spinal.core._
import spinal.lib.misc.pipeline._

/** Protocol's deadline: the end of TIME-WAIT (RFC 9293 3.4.2), the delayed ACK (3.8.6.3), or the next keep-alive probe
  * (3.8.4).
  *
  * FIN-WAIT-2 ends by the same timer as TIME-WAIT if the application has closed.
  */
class ProtocolDeadline(val view: ProtocolView, acknowledgments: Acknowledgments, keepAlive: KeepAlive,
    lifetime: Lifetime, replies: Replies)
    extends Area {
  import view._
  import signals._
  import acknowledgments.delay
  import keepAlive.timer
  import lifetime.application
  import replies.ack

  private val ends = new s3.Area {
    private def after(duration: TimeNumber): Instant =
      (NOW + U(Instant.nanoseconds(duration) + (1 << config.deadlineUnit) - 1, 48 bits)).whole(config.deadlineUnit)
    val timeWait = insert(after(config.timeWait))
    val delayedAck = insert(after(config.delayedAck))
  }
  private val linger = new s4.Area {
    val runs = insert(STATE === TcpState.timeWait || STATE === TcpState.finWait2 && application.closed)
    /** It begins, or begins again with a segment that is answered. */
    val begins = insert(runs && (!before.waiting || ack.wanted))
    PROTOCOL_ARMED := runs || delay.runs || timer.armed
  }

  /** The end of the wait, or that of the delayed ACK. */
  private val own = Instant()
  private val choose = new s5.Area {
    own := whole.deadline
    when(delay.begins)(own := ends.delayedAck)
    when(linger.begins)(own := ends.timeWait)

    private val ownIsArmed = linger.runs || delay.runs
    private def isFirst(end: Instant): Bool =
      (end.ns(47 downto 30) - timer.next).msb // the low bits of the probe's time are zero
    private val ownIsFirst = Mux(
      linger.begins, isFirst(ends.timeWait), Mux(delay.begins, isFirst(ends.delayedAck), isFirst(whole.deadline)))
    PROTOCOL_DEADLINE := own
    when(timer.armed && !(ownIsArmed && ownIsFirst))(PROTOCOL_DEADLINE.ns := timer.next @@ U(0, 30 bits))
  }

  def keep(next: ProtocolState): Unit = new s5.Area {
    next.waiting := linger.runs
    next.deadline := own.low(config.deadlineBits, config.deadlineUnit)
  }
}
