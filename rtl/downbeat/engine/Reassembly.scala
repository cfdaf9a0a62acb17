// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.DownbeatConfig
import downbeat.memory.FlowPosition
import downbeat.wire.{NearNumber, SackBlock, SequenceNumber}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** A range of data in memory beyond a hole. */
case class ReceivedRange(config: DownbeatConfig) extends Bundle {
  val left, right = NearNumber(config.placedNumberBits)

  def isEmpty: Bool = left === right
}

/** What a connection knows about data beyond RCV.NXT. */
case class ReassemblyState(config: DownbeatConfig) extends Bundle {
  /** Disjoint and not adjacent. The newest is first, empty ones are last. */
  val ranges = Vec.fill(DownbeatConfig.ranges)(ReceivedRange(config))
  /** The peer's FIN has come, and has the number `finSequence`; RCV.NXT counts it. */
  val finKnown, finReceived = Bool()
  val finSequence = NearNumber(config.placedNumberBits)
  /** One past what came in order, in memory or on its way there: the number of a segment that follows data at once. */
  val expected = NearNumber(config.placedNumberBits)
}

/** Reassembly: how `placed` changes RCV.NXT and the ranges beyond it (RFC 9293 3.10.7.4, RFC 2018 4).
  *
  * The event's payload [a, b) is joined with the ranges that it touches. If it begins at or before RCV.NXT, RCV.NXT moves to the end of the
  * joined range. Otherwise the joined range becomes the newest. A fifth range is not recorded: it was never reported, so the peer sends it
  * again. Ranges are disjoint, so only one can hold a, and only one b: the ends of the joined range are selected, not compared.
  */
class Reassembly(val view: ProtocolView, verdict: SegmentVerdict) extends Area {
  import view._
  import signals._
  import verdict.{data, peerSyn}
  private val count = DownbeatConfig.ranges
  private def low(number: SequenceNumber): NearNumber = number.low(config.placedNumberBits)
  private def each[T](body: Int => T): Seq[T] = (0 until count).map(body)

  // ---- step 0: order

  private val order = new s0.Area {
    private val past = before.reassembly
    private val a = low(SEQUENCE)
    private val b = low(end.payload)
    private val received = low(before.received)
    val filled = each(i => insert(!past.ranges(i).isEmpty))
    val endsBehind = each(i => insert(past.ranges(i).right.isBefore(a)))
    val beginsBeyond = each(i => insert(b.isBefore(past.ranges(i).left)))
    val holdsBefore = each(i => insert(past.ranges(i).left.isBefore(a)))
    val holdsBehind = each(i => insert(b.isBefore(past.ranges(i).right)))
    val endsAtFin = each(i => insert(past.ranges(i).right === past.finSequence))
    val finAtEnd = insert(b === past.finSequence)
    val finIsNext = insert(past.finSequence === received)
    val beyondNext = insert(received.isBefore(a))
    val isRepeated = insert(b.isBefore(received))
    val bringsMore = insert(received.isBefore(b))
    val follows = insert(!past.expected.isBefore(a))
    val extendsExpected = insert(past.expected.isBefore(end.sequence))
    val expectsMore = insert(past.expected =/= received)
    val takesSpace = insert(extent.span.orR)
    val hasLength = insert(LENGTH.orR)
  }

  // ---- step 1: what it touches

  val arrival = new s1.Area {
    /** Accepted data in order is on its way to memory. A FIN alone is not data. */
    val pending = insert(order.expectsMore &&
      !(before.reassembly.finKnown && !before.reassembly.finReceived && order.finIsNext))
    /** A placement is complete. A failed fetch has no sequence numbers. */
    val comes = insert(kind.placed && LIVE && order.takesSpace)
    val good = insert(comes && !MEMORY_ERROR)
    val advances = insert(good && !order.beyondNext && !order.isRepeated)
    val stretches = insert(good && order.hasLength && order.beyondNext)
    /** New data in order, with nothing beyond it. */
    val extendsInOrder = insert(good && !order.beyondNext && order.bringsMore && !order.filled.head)
  }
  private val overlap = new s1.Area {
    val exists = each(i => order.hasLength && order.filled(i) && !order.endsBehind(i) && !order.beginsBeyond(i))
    val touches = each(i => insert(arrival.good && exists(i)))
    val keeps = each(i => insert(order.filled(i) && !touches(i)))
    val givesLeft = each(i => insert(touches(i) && order.holdsBefore(i)))
    val givesRight = each(i => insert(touches(i) && order.holdsBehind(i)))
  }
  val fin = new s1.Area {
    private val inRange = each(i => overlap.exists(i) && order.holdsBehind(i) && order.endsAtFin(i)).orR
    private val atEnd = !each(i => overlap.exists(i) && order.holdsBehind(i)).orR && order.finAtEnd
    /** RCV.NXT passes the FIN. */
    val reached = insert(arrival.good && !order.beyondNext && !order.isRepeated &&
      before.reassembly.finKnown && !before.reassembly.finReceived && (inRange || atEnd))
  }

  // ---- step 2: the joined range, and the new place of each other range

  private val join = new s2.Area {
    private val ranges = before.reassembly.ranges
    private def select(gives: Seq[Payload[Bool]], ends: Seq[NearNumber], own: NearNumber): NearNumber = {
      val bits = gives.map(apply(_))
      MuxOH.or(Vec(bits :+ !bits.orR), ends :+ own)
    }
    val left = insert(select(overlap.givesLeft, ranges.map(_.left).toSeq, low(SEQUENCE)))
    val right = insert(select(overlap.givesRight, ranges.map(_.right).toSeq, low(end.payload)))
    val records = insert(arrival.stretches && (overlap.touches.map(apply(_)).orR || !order.filled.last))
    val next = insert(low(before.received).low - fin.reached.asUInt)
    /** Range `from` goes to place `to` if as many ranges are kept before it. */
    val goesTo = each(to => each { from =>
      insert(if (from + 1 < to) False else overlap.keeps(from) && exactly(to, overlap.keeps.take(from).map(apply(_)) :+ apply(records)))
    })
  }
  /** Exactly `number` of the bits are set. A sum would become a carry chain. */
  private def exactly(number: Int, of: Seq[Bool]): Bool =
    of.indices.combinations(number).map(set => of.indices.map(i => if (set.contains(i)) of(i) else !of(i)).andR).toSeq.orR

  // ---- step 3: the list; how far RCV.NXT moves

  private val move = new s3.Area {
    val list = each { to =>
      val range = MuxOH.or(Vec(join.goesTo(to).map(apply(_))), before.reassembly.ranges) // an empty one if none goes there
      if (to == 0) when(join.records) {
        range.left := join.left
        range.right := join.right
      }
      insert(range)
    }
    val step = insert(Mux(arrival.advances, join.right.low - join.next, U(0, config.placedNumberBits bits)))
  }
  private val expect = new s3.Area {
    val continues = insert(data.accepted && order.follows && order.extendsExpected)
    val takenTo = insert(NearNumber(low(end.payload).low - data.cut.resize(config.placedNumberBits)))
  }

  // ---- steps 4 and 5: the values

  val values = new s4.Area {
    RECEIVED := Mux[SequenceNumber](peerSyn.taken, event.firstData, before.received + move.step)
    val finReceived = insert(!peerSyn.taken && (before.reassembly.finReceived || fin.reached))
    val filled = move.list.map(range => insert(!range.isEmpty))
    val expected = insert(expect.takenTo + data.takesFin.asUInt)
  }
  private val report = new s5.Area {
    for (((block, range), filled) <- RECEIVED_RANGES.zip(move.list).zip(values.filled)) {
      block.valid := filled && SELECTIVE && !RESET_DUE
      block.left := range.left.since(RECEIVED).resized
      block.right := range.right.since(RECEIVED).resized
    }
  }

  /** The peer's SYN is taken: the receive buffer begins at its first data byte. */
  def begin(position: Flow[FlowPosition]): Unit = new s5.Area {
    position.valid := isValid && peerSyn.taken && !kind.open
    position.flow := FLOW
    position.sequence := RECEIVED
  }

  val after = ReassemblyState(config)
  private val update = new s5.Area {
    private val past = before.reassembly
    for ((mine, range) <- after.ranges.zip(move.list)) {
      mine := range
      when(peerSyn.taken)(mine.right := mine.left)
    }
    after.finKnown := !peerSyn.taken && (past.finKnown || data.takesFin)
    after.finReceived := values.finReceived
    after.finSequence := Mux(past.finKnown, past.finSequence, low(end.payload))
    after.expected := past.expected
    when(expect.continues)(after.expected := values.expected)
    when(past.expected.isBefore(RECEIVED) || peerSyn.taken)(after.expected := low(RECEIVED))
  }
}
