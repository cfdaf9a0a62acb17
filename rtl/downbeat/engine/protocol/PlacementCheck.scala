// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.config.DownbeatConfig
import downbeat.wire.{NearNumber, SequenceNumber}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** How a `placed` event's payload [a, b) compares with RCV.NXT, with the ranges beyond it, and with the peer's FIN. */
class PlacementCheck(val view: ProtocolView) extends Area {
  import view._
  import signals._
  private def low(number: SequenceNumber): NearNumber = number.low(config.placedNumberBits)
  private def each[T](body: Int => T): Seq[T] = (0 until DownbeatConfig.ranges).map(body)

  val order = new s0.Area {
    private val a = low(SEQUENCE)
    private val b = low(end.payload)
    private val received = low(before.received)
    private val ranges = before.reassembly.ranges
    private val finSequence = before.reassembly.finSequence
    val filled = each(i => insert(!ranges(i).isEmpty))
    val endsBehind = each(i => insert(ranges(i).right.isBefore(a)))
    val beginsBeyond = each(i => insert(b.isBefore(ranges(i).left)))
    val holdsBefore = each(i => insert(ranges(i).left.isBefore(a)))
    val holdsBehind = each(i => insert(b.isBefore(ranges(i).right)))
    val endsAtFin = each(i => insert(ranges(i).right === finSequence))
    val finAtEnd = insert(b === finSequence)
    val finIsNext = insert(finSequence === received)
    val beyondNext = insert(received.isBefore(a))
    val isRepeated = insert(b.isBefore(received))
    val bringsMore = insert(received.isBefore(b))
    val expectsMore = insert(before.reassembly.expected =/= received)
    val takesSpace = insert(extent.span.orR)
    val hasLength = insert(LENGTH.orR)
  }

  val arrival = new s1.Area {
    /** Accepted data in order is on its way to memory. A FIN alone is not data. */
    val pending = insert(order.expectsMore &&
      !(before.reassembly.finKnown && !before.reassembly.finReceived && order.finIsNext))
    /** A placement is complete. A failed fetch has no sequence numbers. */
    val comes = insert(kind.placed && LIVE && order.takesSpace)
    val good = insert(comes && !MEMORY_ERROR)
    /** RCV.NXT moves. */
    val advances = insert(good && !order.beyondNext && !order.isRepeated)
    /** It lies beyond a hole. */
    val stretches = insert(good && order.hasLength && order.beyondNext)
    /** New data in order, with nothing beyond it. */
    val extendsInOrder = insert(good && !order.beyondNext && order.bringsMore && !order.filled.head)
  }

  /** For each range: does the payload touch it, does it stay, does it give the joined range its left or right end. */
  val overlap = new s1.Area {
    private def overlaps(i: Int): Bool =
      order.hasLength && order.filled(i) && !order.endsBehind(i) && !order.beginsBeyond(i)
    val touches = each(i => insert(arrival.good && overlaps(i)))
    val keeps = each(i => insert(order.filled(i) && !touches(i)))
    val givesLeft = each(i => insert(touches(i) && order.holdsBefore(i)))
    val givesRight = each(i => insert(touches(i) && order.holdsBehind(i)))

    private val endIsInRange = each(i => overlaps(i) && order.holdsBehind(i))
    private val finIsAtEnd = each(i => endIsInRange(i) && order.endsAtFin(i)).orR || !endIsInRange.orR && order.finAtEnd
    /** RCV.NXT passes the FIN. */
    val reachesFin = insert(arrival.good && !order.beyondNext && !order.isRepeated &&
      before.reassembly.finKnown && !before.reassembly.finReceived && finIsAtEnd)
  }
}
