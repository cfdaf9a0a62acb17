// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.Signals
import downbeat.wire.SackBlock
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Takes the blocks of an ACK into the scoreboard, on steps 0 to 4 of recovery.
  *
  * An ACK brings in two blocks: the first, which holds the newest data (RFC 2018 4), and one of the others in turn (or
  * the second, if that one is absent), which repeats what a lost ACK had said. An ACK of three blocks says by itself
  * that the first byte is lost. When there are five ranges the highest is dropped (`drops`): nearer holes are filled
  * first. The peer repeats only its newest blocks, so that the holes around a dropped range may never be known.
  * `forget` (step 4) leaves nothing.
  *
  * A range before HighRxt no longer says what to send. It is kept as a number of bytes (`passed`), so that there is
  * space for all holes that are sent again when they are seen. An ACK of new data takes from that number all but a
  * segment of what it acknowledges: that segment was sent again, and the rest was held behind it. Blocks before HighRxt
  * are ignored, and blocks beyond SND.MAX.
  */
class SackScoreboard(config: DownbeatConfig, signals: Signals, before: Payload[Scoreboard], forget: Payload[Bool],
    steps: Seq[Node])
    extends Area {
  import RangeMerge.{compare, join, merge}
  import signals._
  private val Seq(s0, s1, s2, s3, s4, s5) = steps.take(6)
  private val bits = config.sendOffsetBits
  private val signedBits = (bits max 17) + 4 // a sum of five, or less two segments
  private val count = DownbeatConfig.ranges
  private def none = U(0, bits bits)
  private def everything = U((BigInt(1) << bits) - 1, bits bits)
  private def wide(bytes: UInt): UInt = bytes.resize(bits max 16)
  private def onlyIf(block: SackBlock, condition: Bool): SackBlock = {
    val result = CombInit(block).allowOverride()
    result.valid := block.valid && condition
    result
  }

  /** SND.UNA has moved, so all offsets have. */
  private val move = new s0.Area {
    private def fromHere(offset: UInt): UInt = offset -^ ACKED.resize(bits)
    val lefts = insert(Vec(before.ranges.map(range => fromHere(range.left))))
    val rights = insert(Vec(before.ranges.map(range => fromHere(range.right).resize(bits))))
    val highRxt = insert(fromHere(before.highRxt)) // signed
    /** HighRxt has passed the first range. */
    val passes = insert(before.ranges(0).left.orR && !(before.highRxt < before.ranges(0).right))
    /** Acknowledged bytes beyond one segment. */
    val surplus = insert(wide(ACKED) -^ wide(SEGMENT_SIZE))
    val lengths = insert(Vec(before.ranges.map(range => range.right - range.left)))
  }

  /** The two blocks. */
  private val select = new s0.Area {
    /** The segment's acknowledgment number is SND.UNA, from which its blocks count. */
    private val counts = SELECTIVE && (ADVANCED || REPEATED)
    private val blocks = OPTIONS.sack
    // A duplicate SACK (RFC 2883) stands first and is none.
    private val plain = blocks(0).valid
    val first = insert(onlyIf(plain ? blocks(0) | blocks(1), counts))
    private val later = blocks.drop(1)
    private val inTurn = Mux(plain, before.turn.mux(0 -> B"001", 1 -> B"010", default -> B"100"),
      Mux(before.turn === 1, B"100", B"010"))
    private val isThere = (inTurn & B(later.map(_.valid))).orR
    private val second = Mux(plain, B"001", B"010")
    val other = insert(onlyIf(MuxOH.or(Mux(isThere, inTurn, second), later), counts))
    private def areIsolated(three: SackBlock*): Bool =
      three.map(_.valid).andR && Seq(0 -> 1, 0 -> 2, 1 -> 2).map { case (i, j) =>
        three(i).right < three(j).left || three(j).right < three(i).left
      }.andR
    /** The first three blocks are runs of their own (RFC 2018 3). */
    val three = insert(plain ? areIsolated(blocks(0), blocks(1), blocks(2)) | areIsolated(blocks(1), blocks(2),
      blocks(3)))
    val turn = insert(Mux(counts, Mux(before.turn === 2, U(0, 2 bits), before.turn + 1), before.turn))
  }
  val turn: Payload[UInt] = select.turn

  /** Blocks before HighRxt are ignored, and blocks of what was never sent: the peer cannot hold it. */
  private val trim = new s1.Area {
    private def isBeyond(block: SackBlock): Bool = move.highRxt.msb || move.highRxt < block.right
    private def wasSent(block: SackBlock): Bool = !(OUTSTANDING.resize(bits) < block.right)
    private def counts(block: SackBlock): Bool = isBeyond(block) && wasSent(block)
    val first = insert(onlyIf(select.first, counts(select.first)))
    val other = insert(onlyIf(select.other, counts(select.other)))
    /** The begin of a block that spans HighRxt: it may hold what `passed` counts. */
    private def leftOf(block: SackBlock): UInt = {
      val spans =
        block.valid && wasSent(block) && !move.highRxt.msb && block.left < move.highRxt && move.highRxt < block.right
      Mux(spans, block.left, everything)
    }
    val firstLeft = insert(leftOf(select.first))
    val otherLeft = insert(leftOf(select.other))
    val highRxt = insert(Mux(move.highRxt.msb, none, move.highRxt.resize(bits)))
  }
  /** HighRxt (RFC 6675): bytes from SND.UNA that were sent again. */
  val highRxt: Payload[UInt] = trim.highRxt

  // ---- steps 1 and 2, 3 and 4: one block each

  private val compareFirst = new s1.Area {
    val moved = insert {
      val ranges = Vec.fill(count)(SackBlock(bits))
      for (i <- 0 until count) {
        ranges(i).valid := True
        ranges(i).left := move.lefts(i).resize(bits)
        ranges(i).right := move.rights(i)
      }
      ranges
    }
    /** A range that SND.UNA has reached without taking it in is one that the peer has discarded (RFC 2018 8). */
    private val alive = B((0 until count).map { i =>
      val kept = if (i == 0) !move.passes else True
      kept && !move.lefts(i).msb && move.lefts(i).orR
    })
    val relation = insert(compare(moved, alive, trim.first))
    /** `passed` counts nothing from here on: from the first range on, if it begins before HighRxt. */
    val passedEnd = insert {
      val left = MuxOH.or(OHMasking.first(alive), moved.map(_.left))
      Mux(alive.orR && left < trim.highRxt, left, apply(trim.highRxt))
    }
    private def tells(block: SackBlock): Bool = {
      val known = moved.zipWithIndex.map { case (range, i) =>
        alive(i) && !(block.left < range.left) && !(range.right < block.right)
      }
      block.valid && !known.orR
    }
    val hasNewSack = insert(tells(trim.first) || tells(trim.other))
  }
  /** A block tells of data that was not known to be held: such an ACK is a duplicate in RFC 6675's sense. */
  val hasNewSack: Payload[Bool] = compareFirst.hasNewSack

  private val mergeFirst = new s2.Area {
    val ranges = insert(merge(compareFirst.moved, compareFirst.relation, trim.first))
    val drops = insert(RangeMerge.drops(compareFirst.relation, trim.first))
  }

  private val compareOther = new s3.Area {
    val relation = insert(compare(mergeFirst.ranges, B(mergeFirst.ranges.map(_.valid)), trim.other))
    val lengths = insert(Vec(mergeFirst.ranges.map(range => range.right - range.left)))
    val three = insert(select.three && trim.first.valid && trim.other.valid)
  }

  private val mergeOther = new s4.Area {
    val ranges = insert {
      val merged = CombInit(merge(mergeFirst.ranges, compareOther.relation, trim.other)).allowOverride()
      when(forget)(merged.foreach(_.valid := False))
      merged
    }
    val drops = insert(mergeFirst.drops || RangeMerge.drops(compareOther.relation, trim.other))
    val stay = insert(
      (0 until count).map(i => Mux(compareOther.relation.stays(i), compareOther.lengths(i), none)).reduceBalancedTree(
        _ +^ _))
    /** The joined block's length less two segments and a byte, signed. */
    val excess = insert {
      val block = join(mergeFirst.ranges, compareOther.relation, trim.other)
      val length = Mux(block.valid, block.right - block.left, none)
      length.resize(signedBits) - (SEGMENT_SIZE @@ U"1").resize(signedBits)
    }
  }
  private val judge = new s5.Area {
    /** IsLost (RFC 6675 4) of the first byte: more than two segments, or three ranges, are held. */
    val firstIsLost = insert(
      compareOther.three || mergeOther.ranges(2).valid || !(mergeOther.stay.resize(signedBits) + mergeOther.excess).msb)
  }
  /** The first byte is taken for lost; on step 5. */
  val firstIsLost: Payload[Bool] = judge.firstIsLost
  /** A range is dropped for want of space; on step 4. */
  val drops: Payload[Bool] = mergeOther.drops
  /** The ranges after the event, from SND.UNA on, packed to the front. */
  val ranges: Payload[Vec[SackBlock]] = mergeOther.ranges

  // ---- steps 1 to 4: what is held before HighRxt

  private val add = new s1.Area {
    val passed = insert(before.passed + Mux(move.passes, move.lengths(0), none))
  }
  private val subtract = new s2.Area {
    val remaining = insert(wide(add.passed) -^ wide(move.surplus)) // signed
    private def smaller(a: UInt, b: UInt): UInt = Mux(a < b, a, b)
    val lowest = insert(smaller(compareFirst.passedEnd, smaller(trim.firstLeft, trim.otherLeft)))
  }
  private val choose = new s3.Area {
    val passed = insert(
      Mux[UInt](move.surplus.msb, add.passed, Mux(subtract.remaining.msb, none, subtract.remaining.resize(bits))))
    val nonePassed = insert(forget || !trim.highRxt.orR)
    /** At most so much of it is in the blocks' ranges now. */
    val counted = insert(compareFirst.passedEnd - subtract.lowest)
  }
  private val total = new s4.Area {
    private val left = choose.passed -^ choose.counted // signed
    val passed = insert(Mux[UInt](choose.nonePassed || left.msb, none, left.resize(bits)))
  }
  /** Bytes held before `highRxt`, in ranges that are no longer kept. */
  val passed: Payload[UInt] = total.passed

  /** Bytes held before the event, on step 3. */
  val heldBefore: Payload[UInt] = {
    val halves = new s1.Area {
      val lower = insert(move.lengths(0) + move.lengths(1))
      val upper = insert(move.lengths(2) + move.lengths(3) + before.passed)
    }
    new s2.Area {
      val bytes = insert(halves.lower + halves.upper)
    }.bytes
  }
}
