// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.config.DownbeatConfig
import downbeat.messages.FlowStatus
import downbeat.wire.{NearNumber, SequenceNumber}
import spinal.core._
import spinal.lib.misc.pipeline._

/** The ends of the urgent data of both directions (RFC 9293 3.8.5): one past its last byte. */
case class UrgencyState(config: DownbeatConfig) extends Bundle {
  /** The application has not read up to RCV.UP. */
  val pending = Bool()
  val receivedEnd = NearNumber(config.urgentNumberBits) // RCV.UP
  /** The peer has not acknowledged up to SND.UP. */
  val outstanding = Bool()
  val sentEnd = NearNumber(config.sendNumberBits) // SND.UP
}

/** The urgent mechanism: a mark in each stream. Urgent bytes are delivered in order like all others (RFC 6093 6).
  *
  * RCV.UP only moves forward, and the application hears of each move. SND.UP is the end of the last urgent write. The
  * segment builder finds out which segments carry URG, and with which pointer.
  */
class Urgency(val view: ProtocolView, verdict: SegmentVerdict) extends Area {
  import view._
  import signals._
  import verdict.{effect, segment, state}

  // ---- RCV.UP

  private val claim = new fetched.Area {
    val end = insert(SEQUENCE + URGENT_POINTER)
  }
  private val distance = new s0.Area { // signed
    val claimFromMark = insert(claim.end.since(before.urgency.receivedEnd))
    val claimFromReceived = insert(claim.end.since(before.received))
    val markFromReceived = insert(before.urgency.receivedEnd.since(before.received))
  }
  private val reading = new s1.Area {
    val claimFromRead = insert(distance.claimFromReceived + bytes.readable) // signed
    val unread = insert(distance.markFromReceived + bytes.readable)
    /** RCV.UP before the event. */
    val mark = insert(before.received + distance.markFromReceived)
  }
  private val progress = new s2.Area {
    val claimIsAhead = insert {
      val ahead = Mux[UInt](before.urgency.pending, distance.claimFromMark, reading.claimFromRead)
      !ahead.msb && ahead.orR
    }
    val allRead = insert(kind.consumed && LIVE && !(LENGTH < reading.unread))
  }
  val received = new s3.Area {
    /** The application gets a status of urgent data, or of more. There is none behind a FIN. */
    val advances = insert(
      segment.ordinary && FLAGS.urg && progress.claimIsAhead && state.receiving && !before.reassembly.finReceived)
  }

  // ---- SND.UP

  private val acknowledgment = new s0.Area {
    val isShort = insert(ACKNOWLEDGMENT.isBefore(before.urgency.sentEnd))
  }
  private val write = new s1.Area {
    val isUrgent = insert(kind.written && LIVE && FLAGS.urg && !before.finishing)
  }
  val written = new s2.Area {
    /** One past the last byte written, if this event writes. */
    val end = insert(whole.written + LENGTH)
  }
  private val sent = new s4.Area {
    val outstanding = insert(
      !OPENING && (write.isUrgent || before.urgency.outstanding && !(effect.acknowledges && !acknowledgment.isShort)))
  }

  val after = UrgencyState(config)
  private val update = new s5.Area {
    URGENT := sent.outstanding
    URGENT_END := Mux(write.isUrgent, written.end.low(config.sendNumberBits), before.urgency.sentEnd)
    after.pending := !OPENING && (received.advances || before.urgency.pending && !progress.allRead)
    val receivedEnd = insert(Mux[SequenceNumber](received.advances, claim.end, reading.mark))
    after.receivedEnd := receivedEnd.low(config.urgentNumberBits)
    after.outstanding := sent.outstanding
    after.sentEnd := URGENT_END
  }

  def show(status: FlowStatus): Unit = new s5.Area {
    status.urgent := after.pending
    status.urgentEnd := update.receivedEnd
  }
}
