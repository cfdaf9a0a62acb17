// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.config.DownbeatConfig
import downbeat.messages.FlowPosition
import downbeat.wire.{NearNumber, SackBlock, SequenceNumber}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** A range of data in memory beyond a hole. */
case class ReceivedRange(config: DownbeatConfig) extends Bundle {
  val left, right = NearNumber(config.placedNumberBits)

  def isEmpty: Bool = left === right
}

/** A connection's state of data beyond RCV.NXT. */
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
  * The event's payload [a, b) is joined with the ranges that it touches. If it begins at or before RCV.NXT, RCV.NXT
  * moves to the end of the joined range. Otherwise the joined range becomes the newest. A fifth range is not recorded:
  * it was never reported, so the peer sends it again. Ranges are disjoint, so only one can hold a, and only one b: the
  * ends of the joined range are selected, not compared.
  */
class Reassembly(
    val view: ProtocolView, verdict: SegmentVerdict, placementCheck: PlacementCheck, duplicates: DuplicateReport)
    extends Area {
  import view._
  import signals._
  import placementCheck.{arrival, order, overlap}
  import verdict.{data, peerSyn}
  private def low(number: SequenceNumber): NearNumber = number.low(config.placedNumberBits)
  private def each[T](body: Int => T): Seq[T] = (0 until DownbeatConfig.ranges).map(body)

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
    val next = insert(low(before.received).low - overlap.reachesFin.asUInt)
    /** Range `from` stays and goes to place `to`, because that many are newer: those before it that stay, and the
      * joined one.
      */
    val goesTo = each(to =>
      each { from =>
        val newer = overlap.keeps.take(from).map(apply(_)) :+ apply(records)
        insert(if (newer.size < to) False else overlap.keeps(from) && exactly(to, newer))
      })
  }
  /** Exactly `number` of the bits are set. A sum would become a carry chain. */
  private def exactly(number: Int, of: Seq[Bool]): Bool =
    of.indices.combinations(number).map(set =>
      of.indices.map(i => if (set.contains(i)) of(i) else !of(i)).andR).toSeq.orR

  // ---- steps 3 and 4: the list, and RCV.NXT

  private val move = new s3.Area {
    val list = each { to =>
      val range =
        MuxOH.or(Vec(join.goesTo(to).map(apply(_))), before.reassembly.ranges) // an empty one if none goes there
      if (to == 0) when(join.records) {
        range.left := join.left
        range.right := join.right
      }
      insert(range)
    }
    /** How far RCV.NXT moves. */
    val bytes = insert(Mux(arrival.advances, join.right.low - join.next, U(0, config.placedNumberBits bits)))
  }

  /** On step 3. */
  val moved: Payload[UInt] = move.bytes

  val received = new s4.Area {
    RECEIVED := Mux[SequenceNumber](peerSyn.taken, event.firstData, before.received + move.bytes)
    val fin = insert(!peerSyn.taken && (before.reassembly.finReceived || overlap.reachesFin))
    val filled = move.list.map(range => insert(!range.isEmpty))
  }

  // ---- the number that the segment after this one will have

  private val follow = new s0.Area {
    val isExpected = insert(!before.reassembly.expected.isBefore(low(SEQUENCE)))
    val goesFurther = insert(before.reassembly.expected.isBefore(end.sequence))
  }
  private val take = new s3.Area {
    val continues = insert(data.accepted && follow.isExpected && follow.goesFurther)
    val payloadTo = insert(NearNumber(low(end.payload).low - data.cut.resize(config.placedNumberBits)))
  }
  private val expected = new s4.Area {
    val next = insert(take.payloadTo + data.takesFin.asUInt)
  }

  // ---- step 5: SACK blocks, and the state

  private val report = new s5.Area {
    private val ranges = Vec.fill(DownbeatConfig.ranges)(SackBlock(config.receiveOffsetBits))
    for (((block, range), filled) <- ranges.zip(move.list).zip(received.filled)) {
      block.valid := filled && SELECTIVE && !RESET_DUE
      block.left := range.left.since(RECEIVED).resized
      block.right := range.right.since(RECEIVED).resized
    }
    for ((block, reported) <- RECEIVED_RANGES.zip(duplicates.reported(ranges))) block := reported
  }

  /** The peer's SYN is taken: the receive buffer begins at its first data byte. */
  def begin(position: Flow[FlowPosition]): Unit = new s5.Area {
    position.valid := isValid && peerSyn.taken && !kind.open
    position.flow := FLOW
    position.sequence := RECEIVED
  }

  val after = ReassemblyState(config)
  private val update = new s5.Area {
    for ((mine, range) <- after.ranges.zip(move.list)) {
      mine := range
      when(peerSyn.taken)(mine.right := mine.left)
    }
    after.finKnown := !peerSyn.taken && (before.reassembly.finKnown || data.takesFin)
    after.finReceived := received.fin
    after.finSequence := Mux(before.reassembly.finKnown, before.reassembly.finSequence, low(end.payload))
    after.expected := before.reassembly.expected
    when(take.continues)(after.expected := expected.next)
    when(before.reassembly.expected.isBefore(RECEIVED) || peerSyn.taken)(after.expected := low(RECEIVED))
  }
}
