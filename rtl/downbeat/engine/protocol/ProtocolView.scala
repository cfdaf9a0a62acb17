// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.Signals
import downbeat.messages.EventKind
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** The inputs that the parts of protocol share: the nodes, the connection before the event, and the facts about the
  * event that several parts use.
  */
class ProtocolView(
    val config: DownbeatConfig, val signals: Signals, val before: Payload[ProtocolState], unreadable: Payload[Bool],
    val address: Node, val fetched: Node, steps: Seq[Node])
    extends Area {
  import signals._
  val Seq(s0, s1, s2, s3, s4, s5) = steps

  val kind = new s0.Area {
    private def is(element: SpinalEnumElement[EventKind.type]): Payload[Bool] = insert(KIND === element)
    val segment = is(EventKind.segment)
    val open = is(EventKind.open)
    val placed = is(EventKind.placed)
    val written = is(EventKind.written)
    val consumed = is(EventKind.consumed)
    val shutdown = is(EventKind.shutdown)
    val close = is(EventKind.close)
    val abort = is(EventKind.abort)
    val sent = is(EventKind.sent)
    val timer = is(EventKind.timer)
    val failed = is(EventKind.failed)
    val unreachable = is(EventKind.unreachable)
    val tooBig = is(EventKind.tooBig)
  }

  /** The connection's word is what was written; otherwise its identity alone is ([[ConnectionIdentity]]). */
  val word = new s0.Area {
    val readable = insert(if (config.ecc) !apply(unreadable) else True)
  }

  // ---- the event's sequence numbers

  val extent = new address.Area {
    /** Sequence space that the event takes: payload, FIN, and in `sent` SYN. */
    val span = insert(LENGTH.resize(15) + FLAGS.fin.asUInt + (FLAGS.syn && KIND === EventKind.sent).asUInt)
  }
  /** One past the last sequence number of the event, and of its payload. */
  val end = new fetched.Area {
    val sequence = insert(SEQUENCE + extent.span)
    val payload = insert(SEQUENCE + LENGTH)
  }

  // ---- the connection before the event

  /** Bytes that the connection holds. */
  val bytes = new s0.Area {
    /** SND.MAX - SND.UNA. */
    val outstanding = insert(before.highestSent.since(before.unacknowledged))
    /** Written and not acknowledged. */
    val buffered = insert(before.written.since(before.unacknowledged))
    /** Received in order and not read. */
    val readable = insert(before.received.since(before.consumed))
  }
  private val timer = new s0.Area {
    /** Nanoseconds to protocol's deadline; signed. */
    val remaining = insert(before.deadline.since(NOW))
  }
  /** Values that the connection keeps by their low bits, whole again. */
  val whole = new s1.Area {
    val highestSent = insert(before.unacknowledged + bytes.outstanding)
    val written = insert(before.unacknowledged + bytes.buffered)
    val consumed = insert(SequenceNumber(before.received.value - bytes.readable))
    val deadline = insert(NOW + timer.remaining)
  }

  // ---- the kind of event

  /** Whether the event makes a connection or meets the one that it names. The application names the flow alone. */
  private val identity = new s0.Area {
    private val fromApplication =
      Seq(EventKind.written, EventKind.consumed, EventKind.shutdown, EventKind.close, EventKind.abort,
        EventKind.setPolicies, EventKind.start, EventKind.setTimes)
        .map(KIND === _).orR
    val opens = insert(kind.open || kind.segment && FRESH)
    val meets = insert(before.inUse && !kind.open && !FRESH && (before.generation === GENERATION || fromApplication))
  }
  val event = new s1.Area {
    OPENING := identity.opens
    LIVE := identity.meets
    /** A segment has left that takes sequence space. */
    val hasSent = insert(kind.sent && LIVE && extent.span.orR)
    /** Protocol's deadline has passed, if it has one. */
    val expired = insert(kind.timer && LIVE && (timer.remaining.msb || !timer.remaining.orR))
    /** The sequence number behind a SYN. */
    val firstData = insert(SEQUENCE + U(1, 1 bits))
  }
}
