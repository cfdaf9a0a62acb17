// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.wire.{NearNumber, SackBlock, SequenceNumber}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** What lies in memory beyond a hole. */
case class ReceivedRange(config: DownbeatConfig) extends Bundle {
  val left, right = NearNumber(config.placedNumberBits)

  def isEmpty: Bool = left === right
}

/** What protocol knows of data beyond RCV.NXT. */
case class ReassemblyState(config: DownbeatConfig) extends Bundle {
  /** Disjoint and not adjacent; the newest first, empty ones last. */
  val ranges = Vec.fill(DownbeatConfig.ranges)(ReceivedRange(config))
  /** The peer's FIN has come, and stands at this sequence number; it is counted in RCV.NXT. */
  val finKnown, finReceived = Bool()
  val finSequence = NearNumber(config.placedNumberBits)
  /** Behind what has come in order, in memory or on its way there. A segment that follows data at once has this number. */
  val expected = NearNumber(config.placedNumberBits)
}

/** Reassembly: what `placed` does to RCV.NXT and to the ranges beyond it (RFC 9293 3.10.7.4, RFC 2018 4).
  *
  * [a, b) is joined with the ranges that it touches. If it begins at or before RCV.NXT, RCV.NXT moves to the end of that; otherwise
  * the joined range becomes the newest. One that would be a fifth is not recorded: it has never been reported, so the peer
  * sends it again. Of disjoint ranges only one can hold a, and only one b, so the ends of the joined one are selected, not compared.
  */
class Reassembly(view: ProtocolView, verdict: SegmentVerdict) extends Area {
  import view._
  import signals._
  private val count = DownbeatConfig.ranges
  private def low(number: SequenceNumber): NearNumber = number.low(config.placedNumberBits)
  /** That many of the bits are set. Sums would become carry chains. */
  private def exactly(number: Int, of: Seq[Bool]): Bool =
    of.indices.combinations(number).map(set => of.indices.map(i => if (set.contains(i)) of(i) else !of(i)).andR).toSeq.orR
  private def each[T](body: Int => T): Seq[T] = (0 until count).map(body)

  // ---- step 0: order

  private val past = s0(before).reassembly
  private val a = low(s0(SEQUENCE))
  private val b = low(s0(payloadEnd))
  private val received = low(s0(before).received)
  private val filled = each(i => s0.insert(!past.ranges(i).isEmpty))
  private val endsBehind = each(i => s0.insert(past.ranges(i).right.isBefore(a)))
  private val beginsBeyond = each(i => s0.insert(b.isBefore(past.ranges(i).left)))
  private val holdsBefore = each(i => s0.insert(past.ranges(i).left.isBefore(a)))
  private val holdsBehind = each(i => s0.insert(b.isBefore(past.ranges(i).right)))
  private val endsAtFin = each(i => s0.insert(past.ranges(i).right === past.finSequence))
  private val finAtEnd = s0.insert(b === past.finSequence)
  private val beyondNext = s0.insert(received.isBefore(a))
  private val wholeOld = s0.insert(b.isBefore(received))
  private val follows = s0.insert(!past.expected.isBefore(a))
  private val expectedBehind = s0.insert(past.expected.isBefore(s0(sequenceEnd)))
  private val bringsMore = s0.insert(received.isBefore(b))
  private val expectsMore = s0.insert(past.expected =/= received)
  private val finIsNext = s0.insert(past.finSequence === received)
  private val takesSpace = s0.insert(s0(span).orR)
  private val hasLength = s0.insert(s0(LENGTH).orR)

  // ---- step 1: what it touches

  private val ranges = s1(before).reassembly.ranges
  /** Data in order was accepted and is on its way to memory; a FIN alone is none. */
  val dataArrives = s1.insert(s1(expectsMore) &&
    !(s1(before).reassembly.finKnown && !s1(before).reassembly.finReceived && s1(finIsNext)))
  /** A placement that is done; a fetch that failed has no sequence numbers. */
  val arrives = s1.insert(s1(isPlaced) && s1(LIVE) && s1(takesSpace))
  private val good = s1(arrives) && !s1(MEMORY_ERROR)
  private def overlaps(i: Int): Bool = s1(hasLength) && s1(filled(i)) && !s1(endsBehind(i)) && !s1(beginsBeyond(i))
  private def touching(i: Int): Bool = good && overlaps(i)
  private val touches = each(i => s1.insert(touching(i)))
  private val kept = each(i => s1.insert(s1(filled(i)) && !touching(i)))
  private val givesLeft = each(i => s1.insert(touching(i) && s1(holdsBefore(i))))
  private val givesRight = each(i => s1.insert(touching(i) && s1(holdsBehind(i))))
  private val advances = s1.insert(good && !s1(beyondNext) && !s1(wholeOld))
  private val stretches = s1.insert(good && s1(hasLength) && s1(beyondNext))
  private val endIsFin = each(i => overlaps(i) && s1(holdsBehind(i)) && s1(endsAtFin(i))).orR ||
    !each(i => overlaps(i) && s1(holdsBehind(i))).orR && s1(finAtEnd)
  /** RCV.NXT passes the FIN. */
  val finReached = s1.insert(
    good && !s1(beyondNext) && !s1(wholeOld) && s1(before).reassembly.finKnown && !s1(before).reassembly.finReceived && endIsFin)
  /** New data in order, with nothing beyond it. */
  val extendsInOrder = s1.insert(good && !s1(beyondNext) && s1(bringsMore) && !s1(filled.head))

  // ---- step 2: the joined range, and where each of the others goes

  private val olds = s2(before).reassembly.ranges
  private def end(gives: Seq[Payload[Bool]], ends: Seq[NearNumber], own: NearNumber): NearNumber =
    MuxOH.or(Vec(gives.map(s2(_)) :+ !gives.map(s2(_)).orR), ends :+ own)
  private val left = s2.insert(end(givesLeft, olds.map(_.left).toSeq, low(s2(SEQUENCE))))
  private val right = s2.insert(end(givesRight, olds.map(_.right).toSeq, low(s2(payloadEnd))))
  private val records = s2.insert(s2(stretches) && (touches.map(s2(_)).orR || !s2(filled.last)))
  private val next = s2.insert(low(s2(before).received).low - s2(finReached).asUInt)
  private val goesTo = each(to => each { from =>
    s2.insert(if (from + 1 < to) False else s2(kept(from)) && exactly(to, kept.take(from).map(s2(_)) :+ s2(records)))
  })

  // ---- step 3: the list; how far RCV.NXT moves

  private val list = each { to =>
    val range = MuxOH.or(Vec(goesTo(to).map(s3(_))), s3(before).reassembly.ranges) // none of them: an empty one
    if (to == 0) when(s3(records)) {
      range.left := s3(left)
      range.right := s3(right)
    }
    s3.insert(range)
  }
  private val step = s3.insert(s3(advances) ? (s3(right).low - s3(next)) | U(0, config.placedNumberBits bits))

  // ---- steps 4 and 5: the values

  s4(RECEIVED) := select(s4(verdict.receivesSyn), s4(firstData), s4(before).received + s4(step))
  val finReceived = s4.insert(!s4(verdict.receivesSyn) && (s4(before).reassembly.finReceived || s4(finReached)))
  private val listed = list.map(range => s4.insert(!s4(range).isEmpty))
  for (((block, range), filled) <- s5(RECEIVED_RANGES).zip(list).zip(listed)) {
    block.valid := s5(filled) && s5(SELECTIVE) && !s5(RESET_DUE)
    block.left := s5(range).left.since(s5(RECEIVED)).resized
    block.right := s5(range).right.since(s5(RECEIVED)).resized
  }

  private val continues = s3.insert(s3(verdict.accepted) && s3(follows) && s3(expectedBehind))
  private val takenTo = s3.insert(NearNumber(low(s3(payloadEnd)).low - s3(verdict.cut).resize(config.placedNumberBits)))
  private val expectedNext = s4.insert(s4(takenTo) + s4(verdict.takesFin).asUInt)
  private val caughtUp = s5(before).reassembly.expected.isBefore(s5(RECEIVED))

  val after = ReassemblyState(config)
  for ((mine, range) <- after.ranges.zip(list)) {
    mine := s5(range)
    when(s5(verdict.receivesSyn))(mine.right := mine.left)
  }
  private val known = s5(before).reassembly.finKnown
  after.finKnown := !s5(verdict.receivesSyn) && (known || s5(verdict.takesFin))
  after.finReceived := s5(finReceived)
  after.expected := s5(before).reassembly.expected
  when(s5(continues))(after.expected := s5(expectedNext))
  when(caughtUp || s5(verdict.receivesSyn))(after.expected := low(s5(RECEIVED)))
  after.finSequence := known ? s5(before).reassembly.finSequence | low(s5(payloadEnd))
}
