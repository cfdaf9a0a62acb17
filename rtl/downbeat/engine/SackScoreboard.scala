// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.wire.SackBlock
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Bytes from SND.UNA, of which the first is never held: zero and zero is no range. */
case class HeldRange(offsetBits: Int) extends Bundle {
  val left, right = UInt(offsetBits bits)

  def set(block: SackBlock): Unit = {
    left := block.valid ? block.left | U(0, offsetBits bits)
    right := block.valid ? block.right | U(0, offsetBits bits)
  }
}

/** What the peer holds beyond SND.UNA (RFC 2018), and how far lost data has been sent again. Ranges are bytes from SND.UNA, disjoint, in
  * ascending order.
  */
case class Scoreboard(config: DownbeatConfig) extends Bundle {
  val ranges = Vec.fill(DownbeatConfig.ranges)(HeldRange(config.sendOffsetBits))
  /** HighRxt of RFC 6675, as bytes from SND.UNA: what is before it has been sent again in this recovery. */
  val highRxt = UInt(config.sendOffsetBits bits)
  /** Bytes held before `highRxt`, in ranges that are kept no more. */
  val passed = UInt(config.sendOffsetBits bits)
  /** Which of the later blocks is looked at with the next ACK. */
  val turn = UInt(2 bits)
}

/** Takes the blocks of an ACK into the scoreboard, steps 0 to 4 of recovery.
  *
  * Two blocks an event: the first, which holds what has just come (RFC 2018 4), and one of the others in turn, the second if that one
  * is none, which repeat what an ACK that was lost had said. A block that would make a fifth range pushes the highest out: nearer holes are
  * filled first, and the peer tells of it again. `forget` leaves nothing.
  *
  * A range that HighRxt has passed says no more what to send: it is kept as a number of bytes, so that there is space for as many holes as are
  * sent again when they are seen. An ACK of something new takes from that number all but a segment of what it acknowledges: that segment was
  * sent again, and the rest lay behind it. Blocks before HighRxt are not looked at.
  */
class SackScoreboard(
    config: DownbeatConfig, signals: Signals, before: Payload[Scoreboard], forget: Payload[Bool],
    s0: Node, s1: Node, s2: Node, s3: Node, s4: Node)
    extends Area {
  import signals._
  private val bits = config.sendOffsetBits
  private val count = DownbeatConfig.ranges
  private def wide(bytes: UInt): UInt = bytes.resize(bits max 16)
  private def list = Vec.fill(count)(SackBlock(bits))

  // ---- step 0: SND.UNA has moved, so all have; the two blocks

  private val past = s0(before)
  private def fromHere(offset: UInt): UInt = offset -^ s0(ACKED).resize(bits)
  private val lefts = s0.insert(Vec(past.ranges.map(range => fromHere(range.left))))
  private val rights = s0.insert(Vec(past.ranges.map(range => fromHere(range.right).resize(bits))))
  private val resent = s0.insert(fromHere(past.highRxt))
  private val passes = s0.insert(past.ranges(0).left.orR && !(past.highRxt < past.ranges(0).right))
  /** What is acknowledged beyond a segment. */
  private val surplus = s0.insert(wide(s0(ACKED)) -^ wide(s0(SEGMENT_SIZE)))
  /** The segment's acknowledgment number is SND.UNA, from which its blocks count. */
  private val speaks = s0(SELECTIVE) && (s0(ADVANCED) || s0(REPEATED))
  private val blocks = s0(OPTIONS).sack
  private def taken(block: SackBlock): SackBlock = {
    val result = CombInit(block).allowOverride()
    result.valid := block.valid && speaks
    result
  }
  private val firstTold = s0.insert(taken(blocks(0).valid ? blocks(0) | blocks(1)))
  private val inTurn = past.turn.mux(0 -> blocks(1), 1 -> blocks(2), default -> blocks(3))
  private val otherTold = s0.insert(taken(inTurn.valid ? inTurn | blocks(1)))
  val turn: Payload[UInt] = s0.insert(speaks ? ((past.turn === 2) ? U(0, 2 bits) | past.turn + 1) | past.turn)

  // ---- step 1: what lies before HighRxt

  private def beyondResent(block: SackBlock): SackBlock = {
    val result = CombInit(block).allowOverride()
    result.valid := block.valid && (s1(resent).msb || s1(resent) < block.right)
    result
  }
  private val first = s1.insert(beyondResent(s1(firstTold)))
  private val other = s1.insert(beyondResent(s1(otherTold)))
  /** It may hold what `passed` counts. */
  private def spans(block: SackBlock): Bool = block.valid && !s1(resent).msb && block.left < s1(resent) && s1(resent) < block.right
  private val counted = s1.insert(spans(s1(firstTold)) || spans(s1(otherTold)))

  // ---- steps 1 and 2, 3 and 4: one block each

  /** How each range lies to a block. */
  private case class Relation() extends Bundle {
    val stays, staysBelow, overlaps, startsBefore, endsBehind, isAbove = Bits(count bits)
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
      relation.staysBelow(i) := alive(i) && !(block.valid && (above || !below))
    }
    relation
  }

  /** The block and all that it touches. */
  private def join(ranges: Vec[SackBlock], relation: Relation, block: SackBlock): SackBlock = {
    val merged = SackBlock(bits)
    merged.valid := block.valid
    def outer(reaches: Bits, own: UInt, ends: Seq[UInt]): UInt = {
      val chosen = relation.overlaps & reaches
      MuxOH.or(chosen.asBools :+ !chosen.orR, ends :+ own)
    }
    merged.left := outer(relation.startsBefore, block.left, ranges.map(_.left).toSeq)
    merged.right := outer(relation.endsBehind, block.right, ranges.map(_.right).toSeq)
    merged
  }

  private def merge(ranges: Vec[SackBlock], relation: Relation, block: SackBlock): Vec[SackBlock] = {
    val merged = join(ranges, relation, block)
    // The place of each in the new list is the number of those before it. Sums would become carry chains.
    def exactly(number: Int, of: Seq[Bool]): Bool =
      of.indices.combinations(number).map(set => of.indices.map(i => if (set.contains(i)) of(i) else !of(i)).andR).toSeq.orR
    def before(i: Int): Seq[Bool] = (0 until i).map(relation.stays(_)) :+ relation.isAbove(i)
    val result = list
    for (k <- 0 until count) {
      val here = (0 until count).map(i => if (k > i + 1) False else relation.stays(i) && exactly(k, before(i))) :+
        (merged.valid && exactly(k, relation.staysBelow.asBools.toSeq))
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
  private val alive = B((0 until count).map { i =>
    val kept = if (i == 0) !s1(passes) else True
    kept && !s1(lefts)(i).msb && s1(lefts)(i).orR
  })
  private val relationToFirst = s1.insert(compare(s1(moved), alive, s1(first)))
  /** The first block tells of data that was not known to be held: such an ACK is a duplicate in RFC 6675's sense. */
  val isNews: Payload[Bool] = s1.insert {
    val known = s1(moved).zipWithIndex.map { case (range, i) =>
      alive(i) && !(s1(first).left < range.left) && !(range.right < s1(first).right)
    }
    s1(first).valid && !known.orR
  }
  private val withFirst = s2.insert(merge(s2(moved), s2(relationToFirst), s2(first)))

  // ---- IsLost of the first byte (RFC 6675 4), as far as the first block: more than two segments, or three ranges, are held

  private def length(block: SackBlock): UInt = block.valid ? (block.right - block.left) | U(0, bits bits)
  private val lengths = s0.insert(Vec(past.ranges.map(range => range.right - range.left)))
  private val stay = s2.insert(
    (0 until count).map(i => s2(relationToFirst).stays(i) ? s2(lengths)(i) | U(0, bits bits)).reduceBalancedTree(_ +^ _))
  private val joined = s2.insert(length(join(s2(moved), s2(relationToFirst), s2(first))))
  /** The first byte is taken for lost. */
  val firstIsLost: Payload[Bool] = s3.insert(
    s3(withFirst)(2).valid || (s3(SEGMENT_SIZE) << 1) < (s3(stay) +^ s3(joined)))

  private val relationToOther = s3.insert(compare(s3(withFirst), B(s3(withFirst).map(_.valid)), s3(other)))
  /** The ranges after this event, from SND.UNA on, packed to the front. */
  val ranges: Payload[Vec[SackBlock]] = s4.insert {
    val merged = CombInit(merge(s4(withFirst), s4(relationToOther), s4(other))).allowOverride()
    when(s4(forget))(merged.foreach(_.valid := False))
    merged
  }
  /** What was sent again, from SND.UNA on. */
  val highRxt: Payload[UInt] = s1.insert(s1(resent).msb ? U(0, bits bits) | s1(resent).resize(bits))

  // ---- steps 1 to 4: what is held before it

  private val withPassed = s1.insert(s1(before).passed + (s1(passes) ? s1(lengths)(0) | U(0, bits bits)))
  private val remaining = s2.insert(wide(s2(withPassed)) -^ wide(s2(surplus)))
  private val lessPassed = s3.insert(
    s3(surplus).msb ? s3(withPassed) | (s3(remaining).msb ? U(0, bits bits) | s3(remaining).resize(bits)))
  private val nonePassed = s3.insert(s3(forget) || s3(counted) || !s3(highRxt).orR)
  /** Bytes held before `highRxt`, in ranges that are kept no more. */
  val passed: Payload[UInt] = s4.insert(s4(nonePassed) ? U(0, bits bits) | s4(lessPassed))
}
