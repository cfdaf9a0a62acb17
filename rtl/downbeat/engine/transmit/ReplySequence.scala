// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.transmit

import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** The sequence number of a pure ACK or a RST, such that the peer's acceptance test takes it (RFC 9293 3.10.7.4,
  * first): min(SND.MAX, SND.UNA + SND.WND). A peer whose window is shut, or was taken back, refuses what lies beyond.
  *
  * A peer rounds its window down to a unit of its scale, so its edge may seem to go back by less than a unit (RFC 7323
  * 2.4). What was sent up to the earlier edge is then inside, and SND.MAX stays. A probe of a shut window is not
  * inside: behind one SND.NXT is at most SND.UNA + 1.
  */
class ReplySequence(val view: TransmitView, decision: TransmitDecision) extends Area {
  import decision.{origin, position}
  import view._
  import signals._

  private val flight = new s0.Area {
    /** SND.MAX - SND.UNA. */
    val bytes = insert(HIGHEST_SENT.since(UNACKNOWLEDGED))
  }
  private val beyond = new s1.Area {
    /** Bytes beyond the peer's window; signed. */
    val bytes = insert(flight.bytes - SEND_WINDOW)
    val edge = insert(UNACKNOWLEDGED + SEND_WINDOW)
    val unit = insert(U(1, 15 bits) |<< PEER_SCALE)
  }
  private val compare = new s2.Area {
    val exceeds = insert(!beyond.bytes.msb && beyond.bytes.orR)
    val isRounding = insert(beyond.bytes < beyond.unit)
    val onlyProbed = insert(!(position.inOrder >> 1).orR)
  }
  private val decide = new s3.Area {
    /** A RST without ACK has the number that its cause asks for (RFC 9293 3.10.7.1). The window does not count our SYN.
      */
    val refuses =
      insert(compare.exceeds && (!compare.isRounding || compare.onlyProbed) && RESET_ACKS && !origin.inSyn)
  }
  private val choose = new s4.Area {
    val sequence = insert(Mux[SequenceNumber](decide.refuses, beyond.edge, REPLY_SEQUENCE))
  }
  val sequence: Payload[SequenceNumber] = choose.sequence
}
