// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.DownbeatConfig
import downbeat.wire.SackBlock
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** What the peer holds beyond SND.UNA (RFC 2018), and how far lost data has been sent again. Ranges are bytes from SND.UNA, disjoint, in
  * ascending order, the valid ones first.
  */
case class Scoreboard(config: DownbeatConfig) extends Bundle {
  val ranges = Vec.fill(DownbeatConfig.ranges)(SackBlock(config.sendOffsetBits))
  /** HighRxt of RFC 6675, as bytes from SND.UNA: what is before it has been sent again in this recovery. */
  val resentTo = UInt(config.sendOffsetBits bits)
  /** Which of the later blocks is looked at with the next ACK. */
  val turn = UInt(2 bits)
}

/** Takes the blocks of an ACK into the scoreboard, steps 0 to 4 of recovery.
  *
  * Two blocks an event: the first, which holds what has just come (RFC 2018 4), and one of the others in turn, which repeat what an
  * ACK that was lost had said. A block that would make a fifth range pushes the highest out: nearer holes are filled first, and the
  * peer tells of it again. `forget` leaves nothing.
  */
class SackScoreboard(
    config: DownbeatConfig, signals: Signals, before: Payload[Scoreboard], forget: Payload[Bool],
    s0: Node, s1: Node, s2: Node, s3: Node, s4: Node)
    extends Area {
  import signals._
  private val bits = config.sendOffsetBits
  private val count = DownbeatConfig.ranges
  private def list = Vec.fill(count)(SackBlock(bits))

  // ---- step 0: SND.UNA has moved, so all have; the two blocks

  private val past = s0(before)
  private def fromHere(offset: UInt): UInt = offset -^ s0(ACKED).resize(bits)
  private val lefts = s0.insert(Vec(past.ranges.map(range => fromHere(range.left))))
  private val rights = s0.insert(Vec(past.ranges.map(range => fromHere(range.right).resize(bits))))
  private val resent = s0.insert(fromHere(past.resentTo))
  /** The segment's acknowledgment number is SND.UNA, from which its blocks count. */
  private val speaks = s0(SELECTIVE) && (s0(ADVANCED) || s0(REPEATED))
  private val blocks = s0(OPTIONS).sack
  private def taken(block: SackBlock): SackBlock = {
    val result = CombInit(block).allowOverride()
    result.valid := block.valid && speaks
    result
  }
  private val first = s0.insert(taken(blocks(0).valid ? blocks(0) | blocks(1)))
  private val other = s0.insert(taken(past.turn.mux(0 -> blocks(1), 1 -> blocks(2), default -> blocks(3))))
  val turn: Payload[UInt] = s0.insert(speaks ? ((past.turn === 2) ? U(0, 2 bits) | past.turn + 1) | past.turn)

  // ---- more than two segments, or three ranges, were held before, or the first block alone is more than two segments: IsLost of the
  // first byte (RFC 6675 4), but for what this ACK's blocks make of what was held

  private val pairs = s0.insert(Vec(past.ranges.grouped(2).map { pair =>
    pair.map(range => range.valid ? (range.right - range.left) | U(0, bits bits)).reduce(_ +^ _)
  }.toSeq))
  private val total = s1.insert(s1(pairs)(0) +^ s1(pairs)(1))
  private val three = s1.insert(CountOne(s1(before).ranges.map(_.valid)) > 2)
  private val firstLength = s1.insert(s1(first).valid ? (s1(first).right - s1(first).left) | U(0, bits bits))
  /** The first byte is taken for lost. */
  val firstIsLost: Payload[Bool] = s2.insert(
    s2(three) || (s2(SEGMENT_SIZE) << 1) < s2(total) || (s2(SEGMENT_SIZE) << 1) < s2(firstLength))

  // ---- steps 1 and 2, 3 and 4: one block each

  /** How each range lies to a block. */
  private case class Relation() extends Bundle {
    val stays, overlaps, startsBefore, endsBehind, isAbove = Bits(count bits)
  }

  private def compare(ranges: Vec[SackBlock], alive: Bits, block: SackBlock): Relation = {
    val relation = Relation()
    for ((range, i) <- ranges.zipWithIndex) {
      val above = block.right < range.left
      val below = range.right < block.left
      relation.overlaps(i) := alive(i) && block.valid && !above && !below
      relation.stays(i) := alive(i) && !(block.valid && !above && !below)
      relation.startsBefore(i) := range.left < block.left
      relation.endsBehind(i) := block.right < range.right
      relation.isAbove(i) := above && block.valid
    }
    relation
  }

  private def merge(ranges: Vec[SackBlock], relation: Relation, block: SackBlock): Vec[SackBlock] = {
    val merged = SackBlock(bits)
    merged.valid := block.valid
    def outer(reaches: Bits, own: UInt, ends: Seq[UInt]): UInt = {
      val chosen = relation.overlaps & reaches
      MuxOH.or(chosen.asBools :+ !chosen.orR, ends :+ own)
    }
    merged.left := outer(relation.startsBefore, block.left, ranges.map(_.left).toSeq)
    merged.right := outer(relation.endsBehind, block.right, ranges.map(_.right).toSeq)

    // The place of each in the new list is the number of those before it.
    def staying(which: Seq[Int], condition: Int => Bool): UInt =
      if (which.isEmpty) U(0, 3 bits) else CountOne(which.map(condition)).resize(3)
    val place = (0 until count).map(i => staying(0 until i, relation.stays(_)) + relation.isAbove(i).asUInt)
    val mergedPlace = staying(0 until count, i => relation.stays(i) && !relation.isAbove(i))
    val result = list
    for (k <- 0 until count) {
      val here = (0 until count).map(i => relation.stays(i) && place(i) === k) :+ (merged.valid && mergedPlace === k)
      val all = ranges :+ merged
      result(k).valid := here.orR
      result(k).left := MuxOH.or(here, all.map(_.left))
      result(k).right := MuxOH.or(here, all.map(_.right))
    }
    result
  }

  private val moved = s1.insert {
    val ranges = list
    for (i <- 0 until count) {
      ranges(i).valid := True
      ranges(i).left := s1(lefts)(i).resize(bits)
      ranges(i).right := s1(rights)(i)
    }
    ranges
  }
  /** A range that SND.UNA has reached without taking it in is one that the peer has thrown away (RFC 2018 8). */
  private val alive = B((0 until count).map(i => s1(before).ranges(i).valid && !s1(lefts)(i).msb && s1(lefts)(i).orR))
  private val relationToFirst = s1.insert(compare(s1(moved), alive, s1(first)))
  /** The first block tells of data that was not known to be held: such an ACK is a duplicate in RFC 6675's sense. */
  val isNews: Payload[Bool] = s1.insert {
    val known = s1(moved).zipWithIndex.map { case (range, i) =>
      alive(i) && !(s1(first).left < range.left) && !(range.right < s1(first).right)
    }
    s1(first).valid && !known.orR
  }
  private val withFirst = s2.insert(merge(s2(moved), s2(relationToFirst), s2(first)))
  private val relationToOther = s3.insert(compare(s3(withFirst), B(s3(withFirst).map(_.valid)), s3(other)))
  /** The ranges after this event, from SND.UNA on, packed to the front. */
  val ranges: Payload[Vec[SackBlock]] = s4.insert {
    val merged = CombInit(merge(s4(withFirst), s4(relationToOther), s4(other))).allowOverride()
    when(s4(forget))(merged.foreach(_.valid := False))
    merged
  }
  /** What was sent again, from SND.UNA on. */
  val resentTo: Payload[UInt] = s1.insert(s1(resent).msb ? U(0, bits bits) | s1(resent).resize(bits))
}
