// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.config.DownbeatConfig
import downbeat.messages.{EventKind, TcpState}
import downbeat.wire.{NearNumber, SequenceNumber}
import spinal.core._
import spinal.lib.misc.pipeline._

/** The acknowledgments and windows that have been sent to the peer. */
case class AcknowledgmentState(config: DownbeatConfig) extends Bundle {
  val lastSent = NearNumber(config.receiveNumberBits) // Last.ACK.sent (RFC 7323 4.3)
  /** The window's right edge. What was announced lies less than a unit of the window scale before it. */
  val edge = NearNumber(config.receiveNumberBits)
  /** Data in order waits for its ACK. */
  val delayed = Bool()
}

/** When to acknowledge (RFC 9293 3.8.6.3, RFC 5681 4.2), and how far the window opens (RFC 9293 3.8.6.2.2).
  *
  * New data in order waits for the delayed-ACK timer or for a second segment of whatever size. Anything else is
  * acknowledged at once. The window's edge moves right by at least a segment or half the buffer, and never moves left.
  * A grant may find nothing to send, so what a segment tells the peer counts only when its `sent` comes.
  */
class Acknowledgments(val view: ProtocolView, verdict: SegmentVerdict, windowCheck: WindowCheck,
    placementCheck: PlacementCheck, reassembly: Reassembly)
    extends Area {
  import view._
  import signals._
  import placementCheck.{arrival, overlap}
  import verdict.{data, effect, handshake, peerSyn}
  private val half = config.receiveBufferBytes / 2
  private def low(number: SequenceNumber): NearNumber = number.low(config.receiveNumberBits)

  // ---- the ACK and the window of a segment that has left

  private val sent = new s0.Area {
    private val scaled = before.scaling && !FLAGS.syn
    val edge = insert(
      low(ACKNOWLEDGMENT) + (WINDOW_FIELD.window.resize(30) |<< Mux(scaled, U(config.receiveWindowScale, 4 bits),
        U(0, 4 bits))))
    val isNewer = insert(before.acknowledgments.lastSent.isBefore(ACKNOWLEDGMENT))
    val isAll = insert(ACKNOWLEDGMENT.value === before.received.value)
  }
  private val tell = new s1.Area {
    val tells = insert(event.hasSent && !FLAGS.syn)
    /** The peer may refuse a probe of its shut window with all that it says. */
    private val isHeard = before.sendWindow.field.orR
    val acknowledgesMore = insert(sent.isNewer && event.hasSent && !FLAGS.syn)
    val acknowledgesAll = insert(tells && sent.isAll && isHeard)
    val opens = insert(before.acknowledgments.edge.isBefore(sent.edge))
  }

  // ---- how far the window may open

  private val buffer = new fetched.Area {
    val free = insert(Mux[UInt](KIND === EventKind.consumed, LENGTH, U(0, 32 bits)) + config.receiveBufferBytes)
  }
  private val edgeBefore = new s0.Area {
    val toConsumed = insert(before.consumed.since(before.acknowledgments.edge))
  }
  private val growth = new s1.Area {
    val bytes = insert(edgeBefore.toConsumed + buffer.free)
    /** One past the end of the buffer. */
    val limit = insert(before.consumed + buffer.free)
    /** Less than half the buffer is announced. An ACK that waits will tell more, unless the peer may be waiting for it.
      */
    val windowIsNarrow = insert(windowCheck.distance.window < half &&
      !(before.acknowledgments.delayed && (windowCheck.distance.window >> 15).orR))
    /** Without window scale a segment announces no more than this edge, before RCV.NXT moves; what it would gain. */
    val announced = insert(low(before.received) + U(65535, 32 bits))
    val announcedBytes = insert(U(65535, 32 bits) - windowCheck.distance.window)
  }
  private val opening = new s2.Area {
    val moves = insert(!(growth.bytes < (config.ownMss min half)))
    /** The peer may be waiting for space, and there is enough more to tell. */
    val tells = insert(LIVE && kind.consumed && !before.reassembly.finReceived && before.state =/= TcpState.synSent &&
      growth.windowIsNarrow && !(growth.bytes < (2 * config.ownMss min half)) &&
      (before.scaling || !(growth.announcedBytes < (2 * config.ownMss min half))))
    /** The buffer's end less the edge that a segment without window scale announces; signed. */
    val unannounced = insert((growth.bytes - growth.announcedBytes).resize(config.receiveNumberBits))
    val bySyn = insert(low(event.firstData) + U(config.receiveBufferBytes min 65535, 32 bits))
    val byAck = insert(low(event.firstData) + U(config.receiveBufferBytes, 32 bits))
  }
  private val edges = new s3.Area {
    val opened = insert(Mux[NearNumber](opening.moves, growth.limit, before.acknowledgments.edge))
    /** The window of a SYN is not scaled (RFC 7323 2.2). An ACK answers a SYN-ACK. */
    val initial = insert(
      Mux[NearNumber](handshake.connects && OPTIONS.windowScaleValid, opening.byAck, opening.bySyn))
    val mayExceed = insert(opening.moves && !before.scaling && !opening.unannounced.msb)
  }
  private val edge = new s4.Area {
    /** The window's edge after the event, if the event tells the peer of it. */
    val after: Payload[NearNumber] = insert {
      val edge = CombInit(apply(edges.opened)).allowOverride()
      if (config.receiveBufferBytes > 65535)
        when(edges.mayExceed && !(opening.unannounced < reassembly.moved))(edge := growth.announced + reassembly.moved)
      when(peerSyn.taken)(edge := edges.initial)
      edge
    }
  }
  private val window = new s5.Area {
    RECEIVE_WINDOW := edge.after.since(RECEIVED).resize(25)
  }

  // ---- whether an ACK is due

  private val immediate = new s1.Area {
    private val delayed = before.acknowledgments.delayed
    /** The window was sent as shut, and holds less than a unit of its scale: the peer has probed it. */
    private val probed = !(windowCheck.distance.window >> config.receiveWindowScale).orR
    val due = insert(arrival.comes && (!arrival.extendsInOrder || overlap.reachesFin || delayed || probed) ||
      event.expired && delayed && !before.waiting || kind.close && LIVE && delayed)
  }
  val reply = new s3.Area {
    /** The timer gets another purpose: it will end FIN-WAIT-2 of a connection without application. */
    private val timerIsTaken = effect.acknowledgesFin && before.acknowledgments.delayed && before.applicationClosed
    val due = insert(data.rejected || immediate.due || opening.tells || timerIsTaken)
    val beginsToWait = insert(arrival.extendsInOrder && !due)
  }
  val delay = new s4.Area {
    /** The delayed-ACK timer starts; it runs. */
    val begins = insert(apply(reply.beginsToWait))
    val runs = insert((before.acknowledgments.delayed || reply.beginsToWait) && !ACK_DUE && !tell.acknowledgesAll &&
      !peerSyn.taken && STATE =/= TcpState.closed)
  }

  val after = AcknowledgmentState(config)
  private val update = new s5.Area {
    private val acknowledgesAll = peerSyn.taken || ACK_DUE
    after.lastSent := Mux(
      acknowledgesAll, low(RECEIVED), Mux(tell.acknowledgesMore, low(ACKNOWLEDGMENT), before.acknowledgments.lastSent))
    after.edge := Mux[NearNumber](
      acknowledgesAll, edge.after, Mux[NearNumber](tell.tells && tell.opens, sent.edge, before.acknowledgments.edge))
    after.delayed := delay.runs
  }
}
