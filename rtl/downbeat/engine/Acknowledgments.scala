// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.messages.{EventKind, TcpState}
import downbeat.wire.{NearNumber, SequenceNumber}
import spinal.core._
import spinal.lib.misc.pipeline._

/** What the peer has been told of what came from it. */
case class AcknowledgmentState(config: DownbeatConfig) extends Bundle {
  val lastSent = NearNumber(config.receiveNumberBits) // Last.ACK.sent (RFC 7323 4.3)
  /** The window's right edge; what was announced lies less than a unit of the window scale before it. */
  val edge = NearNumber(config.receiveNumberBits)
  /** Data in order awaits its ACK. */
  val delayed = Bool()
}

/** When to acknowledge (RFC 9293 3.8.6.3, RFC 5681 4.2), and how far the window opens (RFC 9293 3.8.6.2.2).
  *
  * New data in order waits for the delayed-ACK timer or for the second segment, of whatever size; anything else is
  * acknowledged at once. The window's edge moves right by a segment or half the buffer at least, and never left. What a
  * grant told the peer counts when its `sent` comes, for a grant may find nothing to send.
  */
class Acknowledgments(view: ProtocolView, verdict: SegmentVerdict, reassembly: Reassembly) extends Area {
  import view._
  import signals._
  private val half = config.receiveBufferBytes / 2
  private val past = s0(before).acknowledgments
  private def low(number: SequenceNumber): NearNumber = number.low(config.receiveNumberBits)

  // ---- what a segment that has left told

  private val units = s0(before).scaling && !s0(FLAGS).syn
  private val toldEdge = s0.insert(
    low(s0(ACKNOWLEDGMENT)) + (s0(WIRE_WINDOW).resize(30) |<< (units ? U(config.receiveWindowScale, 4 bits) | U(0, 4 bits))))
  private val ahead = s0.insert(past.lastSent.isBefore(s0(ACKNOWLEDGMENT)))
  private val saysAll = s0.insert(s0(ACKNOWLEDGMENT).value === s0(before).received.value)
  private val tells = s1.insert(s1(hasSent) && !s1(FLAGS).syn)
  private val tellsMore = s1.insert(s1(ahead) && s1(hasSent) && !s1(FLAGS).syn)
  private val opensTo = s1.insert(s1(before).acknowledgments.edge.isBefore(s1(toldEdge)))

  // ---- how far the window may open

  private val freed = fetched.insert(((fetched(KIND) === EventKind.consumed) ? fetched(LENGTH) | U(0, 32 bits)) + config.receiveBufferBytes)
  private val used = s0.insert(s0(before).consumed.since(past.edge))
  private val growth = s1.insert(s1(used) + s1(freed))
  /** One past the end of the buffer. */
  private val limit = s1.insert(s1(before).consumed + s1(freed))
  private val moves = s2.insert(!(s2(growth) < (config.ownMss min half)))
  private val opened = s3.insert(s3(moves) ? s3(limit) | s3(before).acknowledgments.edge)
  private val firstEdge = s3.insert(low(s3(firstData)) + U(config.receiveBufferBytes, 32 bits))
  private val edge = s4.insert(s4(verdict.receivesSyn) ? s4(firstEdge) | s4(opened))
  s5(RECEIVE_WINDOW) := s5(edge).since(s5(RECEIVED)).resize(25)

  /** The peer may be waiting for space, and there is enough more to tell it of. */
  private val narrow = s1.insert(s1(verdict.space) < half)
  private val tellsOfSpace = s2.insert(s2(LIVE) && s2(isConsumed) && !s2(before).reassembly.finReceived &&
    s2(before).state =/= TcpState.synSent && s2(narrow) && !(s2(growth) < (2 * config.ownMss min half)))

  // ---- whether an ACK is due for what came or went

  private val waits = s1(before).acknowledgments.delayed
  private val atOnce = s1.insert(s1(reassembly.arrives) && (!s1(reassembly.extendsInOrder) || s1(reassembly.finReached) || waits) ||
    s1(expired) && waits && !s1(before).waiting || s1(isClose) && s1(LIVE) && waits)
  /** The timer will have another purpose: an orphan's FIN-WAIT-2 ends by it. */
  private val beforeWaiting = s3(verdict.acknowledgesFin) && s3(before).acknowledgments.delayed && s3(before).applicationClosed
  val due = s3.insert(s3(verdict.rejected) || s3(atOnce) || s3(tellsOfSpace) || beforeWaiting)
  private val beginsToWait = s3.insert(s3(reassembly.extendsInOrder) && !s3(due))

  /** The delayed ACK's time begins. */
  val delays = s4.insert(s4(beginsToWait))
  private val toldAll = s1.insert(s1(tells) && s1(saysAll))
  val delayed = s4.insert((s4(before).acknowledgments.delayed || s4(beginsToWait)) && !s4(ACK_DUE) && !s4(toldAll) &&
    !s4(verdict.receivesSyn) && s4(STATE) =/= TcpState.closed)

  val after = AcknowledgmentState(config)
  private val last = s5(before).acknowledgments
  private val all = s5(verdict.receivesSyn) || s5(ACK_DUE)
  after.lastSent := all ? low(s5(RECEIVED)) | (s5(tellsMore) ? low(s5(ACKNOWLEDGMENT)) | last.lastSent)
  after.edge := all ? s5(edge) | ((s5(tells) && s5(opensTo)) ? s5(toldEdge) | last.edge)
  after.delayed := s5(delayed)
}
