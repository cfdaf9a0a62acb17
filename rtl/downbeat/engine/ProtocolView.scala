// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.messages.EventKind
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** What the parts of protocol look at together: the nodes, the connection before the event, and which event it is. */
class ProtocolView(
    val config: DownbeatConfig, val signals: Signals, val before: Payload[ProtocolState],
    val address: Node, val fetched: Node, steps: Seq[Node])
    extends Area {
  import signals._
  val s0: Node = steps(0)
  val s1: Node = steps(1)
  val s2: Node = steps(2)
  val s3: Node = steps(3)
  val s4: Node = steps(4)
  val s5: Node = steps(5)

  private def kind(element: SpinalEnumElement[EventKind.type]): Payload[Bool] = s0.insert(s0(KIND) === element)
  val isSegment = kind(EventKind.segment)
  val isOpen = kind(EventKind.open)
  val isPlaced = kind(EventKind.placed)
  val isWritten = kind(EventKind.written)
  val isConsumed = kind(EventKind.consumed)
  val isShutdown = kind(EventKind.shutdown)
  val isClose = kind(EventKind.close)
  val isAbort = kind(EventKind.abort)
  val isSent = kind(EventKind.sent)
  val isTimer = kind(EventKind.timer)
  val isUnreachable = kind(EventKind.unreachable)
  val isTooBig = kind(EventKind.tooBig)

  // What the connection keeps by its low bits, whole again: SND.MAX, one past the last byte written, one past the last byte read
  val outstanding = s0.insert(s0(before).highestSent.since(s0(before).unacknowledged))
  private val buffered = s0.insert(s0(before).written.since(s0(before).unacknowledged))
  val readable = s0.insert(s0(before).received.since(s0(before).consumed))
  val highestSentBefore = s1.insert(s1(before).unacknowledged + s1(outstanding))
  val writtenBefore = s1.insert(s1(before).unacknowledged + s1(buffered))
  val consumedBefore = s1.insert(SequenceNumber(s1(before).received.value - s1(readable)))

  /** Sequence space that the event takes: payload, FIN, and in `sent` SYN. */
  val span = address.insert(
    address(LENGTH).resize(15) + address(FLAGS).fin.asUInt + (address(FLAGS).syn && address(KIND) === EventKind.sent).asUInt)
  /** One past the event's last sequence number, and one past its payload's. */
  val sequenceEnd = fetched.insert(fetched(SEQUENCE) + fetched(span))
  val payloadEnd = fetched.insert(fetched(SEQUENCE) + fetched(LENGTH))

  private val fromApplication =
    Seq(EventKind.written, EventKind.consumed, EventKind.shutdown, EventKind.close, EventKind.abort, EventKind.setPolicies)
      .map(s0(KIND) === _).orR
  private val opens = s0.insert(s0(isOpen) || s0(isSegment) && s0(FRESH))
  private val meets = s0.insert(
    s0(before).inUse && !s0(isOpen) && !s0(FRESH) && (s0(before).generation === s0(GENERATION) || fromApplication))
  s1(OPENING) := s1(opens)
  s1(LIVE) := s1(meets)

  /** A segment has left that takes sequence space. */
  val hasSent = s1.insert(s1(isSent) && s1(LIVE) && s1(span).orR)
  private val ahead = s0.insert(s0(before).deadline.since(s0(NOW))) // signed
  val deadlineBefore = s1.insert(s1(NOW) + s1(ahead))
  /** Protocol's deadline has passed, if it has one. */
  val expired = s1.insert(s1(isTimer) && s1(LIVE) && (s1(ahead).msb || !s1(ahead).orR))

  /** Behind a SYN. */
  val firstData = s1.insert(s1(SEQUENCE) + U(1, 1 bits))

  def select(condition: Bool, yes: SequenceNumber, no: SequenceNumber): SequenceNumber = condition ? yes | no
}
