// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.config.DownbeatConfig
import downbeat.wire.SackBlock
import spinal.core._
import spinal.lib._

/** Bytes from SND.UNA. The peer never holds the first one: zero and zero is no range. */
case class HeldRange(offsetBits: Int) extends Bundle {
  val left, right = UInt(offsetBits bits)

  def set(block: SackBlock): Unit = {
    left := Mux(block.valid, block.left, U(0, offsetBits bits))
    right := Mux(block.valid, block.right, U(0, offsetBits bits))
  }
}

/** Data that the peer holds beyond SND.UNA (RFC 2018), and how far lost data has been sent again. Ranges are bytes from
  * SND.UNA, disjoint, in ascending order.
  */
case class Scoreboard(config: DownbeatConfig) extends Bundle {
  val ranges = Vec.fill(DownbeatConfig.ranges)(HeldRange(config.sendOffsetBits))
  /** HighRxt of RFC 6675, as bytes from SND.UNA: everything before it has been sent again in this recovery. */
  val highRxt = UInt(config.sendOffsetBits bits)
  /** Bytes held before `highRxt`, in ranges that are no longer kept. */
  val passed = UInt(config.sendOffsetBits bits)
  /** Which of the later blocks the next ACK's turn is. */
  val turn = UInt(2 bits)
}

/** How each range lies to a block. */
case class RangeRelation() extends Bundle {
  val stays, staysBelow, overlaps, startsBefore, endsBehind, isAbove = Bits(DownbeatConfig.ranges bits)
}

/** Merges a block into ranges that are disjoint and ascending: `compare` on one step, `merge` on the next. */
object RangeMerge {
  private val count = DownbeatConfig.ranges

  /** `alive` tells which of the ranges there are. */
  def compare(ranges: Vec[SackBlock], alive: Bits, block: SackBlock): RangeRelation = {
    val relation = RangeRelation()
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
  def join(ranges: Vec[SackBlock], relation: RangeRelation, block: SackBlock): SackBlock = {
    val joined = cloneOf(block)
    joined.valid := block.valid
    def outer(reaches: Bits, own: UInt, ends: Seq[UInt]): UInt = {
      val chosen = relation.overlaps & reaches
      MuxOH.or(chosen.asBools :+ !chosen.orR, ends :+ own)
    }
    joined.left := outer(relation.startsBefore, block.left, ranges.map(_.left).toSeq)
    joined.right := outer(relation.endsBehind, block.right, ranges.map(_.right).toSeq)
    joined
  }

  /** There is no space for the highest. */
  def drops(relation: RangeRelation, block: SackBlock): Bool = block.valid && relation.stays.andR

  /** The ranges with the block, packed to the front. The highest of more than `count` is lost. */
  def merge(ranges: Vec[SackBlock], relation: RangeRelation, block: SackBlock): Vec[SackBlock] = {
    val joined = join(ranges, relation, block)
    // The place of each in the new list is the number of those below it. Sums would become carry chains.
    def exactly(number: Int, of: Seq[Bool]): Bool =
      of.indices.combinations(number).map(set =>
        of.indices.map(i => if (set.contains(i)) of(i) else !of(i)).andR).toSeq.orR
    def below(i: Int): Seq[Bool] = (0 until i).map(relation.stays(_)) :+ relation.isAbove(i)
    val result = Vec.fill(count)(cloneOf(block))
    for (k <- 0 until count) {
      val here = (0 until count).map(i => if (k > i + 1) False else relation.stays(i) && exactly(k, below(i))) :+
        (joined.valid && exactly(k, relation.staysBelow.asBools.toSeq))
      val all = ranges :+ joined
      result(k).valid := here.orR
      result(k).left := MuxOH.or(here, all.map(_.left))
      result(k).right := MuxOH.or(here, all.map(_.right))
    }
    result
  }
}
