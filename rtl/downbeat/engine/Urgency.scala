// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.messages.FlowStatus
import downbeat.wire.NearNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** Urgent data of both ways (RFC 9293 3.8.5): where it ends, one past its last byte. */
case class UrgencyState(config: DownbeatConfig) extends Bundle {
  /** The application has not read all of what the peer calls urgent: up to RCV.UP. */
  val pending = Bool()
  val receivedEnd = NearNumber(config.urgentNumberBits)
  /** The peer has not acknowledged all of what the application calls urgent: up to SND.UP. */
  val outstanding = Bool()
  val sentEnd = NearNumber(config.sendNumberBits)
}

/** The urgent mechanism: a mark in each stream, whose bytes are delivered in line like all others (RFC 6093 6).
  *
  * RCV.UP only moves on, and the application hears of each move. SND.UP is the end of the last urgent write; which segments
  * say so, and by which pointer, is the segment builder's to find out.
  */
class Urgency(view: ProtocolView, verdict: SegmentVerdict) extends Area {
  import view._
  import signals._
  private val past = s0(before).urgency

  // ---- the peer's

  private val claimedEnd = fetched.insert(fetched(SEQUENCE) + fetched(URGENT_POINTER))
  private val pastMark = s0.insert(s0(claimedEnd).since(past.receivedEnd)) // signed
  private val pastReceived = s0.insert(s0(claimedEnd).since(s0(before).received)) // signed
  private val pastRead = s1.insert(s1(pastReceived) + s1(readable)) // signed
  private val isAhead = s2.insert {
    val distance = s2(before).urgency.pending ? s2(pastMark) | s2(pastRead)
    !distance.msb && distance.orR
  }
  private val markPastReceived = s0.insert(past.receivedEnd.since(s0(before).received)) // signed
  private val mark = s1.insert(s1(before).received + s1(markPastReceived))
  private val unread = s1.insert(s1(markPastReceived) + s1(readable))
  private val allRead = s2.insert(s2(isConsumed) && s2(LIVE) && !(s2(LENGTH) < s2(unread)))
  /** The application is to hear of urgent data, or of more. Behind a FIN there is none. */
  val advances = s3.insert(
    s3(verdict.ordinary) && s3(FLAGS).urg && s3(isAhead) && s3(verdict.receiving) && !s3(before).reassembly.finReceived)

  // ---- ours

  /** One past the last byte written, if this event writes. */
  val writtenTo = s2.insert(s2(writtenBefore) + s2(LENGTH))
  private val marks = s1.insert(s1(isWritten) && s1(LIVE) && s1(FLAGS).urg && !s1(before).finishing)
  private val ackPast = s0.insert(s0(ACKNOWLEDGMENT).isBefore(past.sentEnd))
  private val isOutstanding = s4.insert(!s4(OPENING) &&
    (s4(marks) || s4(before).urgency.outstanding && !(s4(verdict.acknowledges) && !s4(ackPast))))
  s5(URGENT) := s5(isOutstanding)
  s5(URGENT_END) := s5(marks) ? s5(writtenTo).low(config.sendNumberBits) | s5(before).urgency.sentEnd

  val after = UrgencyState(config)
  after.pending := !s5(OPENING) && (s5(advances) || s5(before).urgency.pending && !s5(allRead))
  private val receivedEnd = s5.insert(select(s5(advances), s5(claimedEnd), s5(mark)))
  after.receivedEnd := s5(receivedEnd).low(config.urgentNumberBits)
  after.outstanding := s5(isOutstanding)
  after.sentEnd := s5(URGENT_END)

  def show(status: FlowStatus): Unit = {
    status.urgent := after.pending
    status.urgentEnd := s5(receivedEnd)
  }
}
