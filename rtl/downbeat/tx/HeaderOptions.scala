// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.messages.SegmentDescriptor
import spinal.core._
import spinal.lib._

/** Lays out the options of a segment and adds them up, one 32-bit word a clock, while the builder counts its steps.
  *
  * A SYN has MSS (RFC 9293 3.7.1), SACK-permitted (RFC 2018 2), timestamps (RFC 7323 3.2) and window scale (RFC 7323
  * 2.2). Any other segment but a RST has timestamps; without payload also as many SACK blocks as fit (RFC 2018 3). NOPs
  * fill words as Linux does it.
  */
case class HeaderOptions(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    /** The builder's step. `segment` and whether it has payload are read from step 0 on. */
    val step = in UInt (4 bits)
    val segment = in(SegmentDescriptor(config))
    val hasPayload = in Bool ()
    /** 32-bit words of options, from step 1 on. */
    val words = out UInt (4 bits)
    /** The words, zero beyond them. They and `sum` are whole from step 5 on, once not `busy`: that takes a clock for
      * each word beyond three.
      */
    val options = out(Vec.fill(SegmentHeader.maxOptionWords)(Bits(32 bits)))
    /** Ones' complement sum of the words and of what hangs on their number alone: the TCP length without payload, and
      * protocol 6.
      */
    val sum = out UInt (21 bits)
    val busy = out Bool ()
  }
  noIoPrefix()

  private val segment = io.segment
  private val starts = io.step === 0

  // ---- which options
  private val syn = segment.flags.syn
  private val timestamped = segment.timestamped
  private val permitsSack = syn && segment.sackPermitted
  private val scales = syn && segment.windowScaleOffered
  private val blocksNow = UInt(3 bits)
  blocksNow := 0
  when(!syn && !segment.flags.rst && !io.hasPayload) {
    for ((block, i) <- segment.sack.zipWithIndex) {
      // Behind timestamps there is space for three.
      when(block.valid && (if (i == 3) !timestamped else True))(blocksNow := i + 1)
    }
  }
  private val blocks = RegNextWhen(blocksNow, starts)
  private val wordsNow = U(syn).resize(4) + U(scales) +
    (timestamped ? U(3, 4 bits) | U(permitsSack).resize(4)) + (blocksNow.orR ? (blocksNow @@ U(1, 1 bit)) | U(0,
      4 bits))
  io.words := RegNextWhen(wordsNow, starts)

  // ---- one word after the other
  private object Word extends SpinalEnum {
    val none, mss, prefix, timestampValue, timestampEcho, windowScale, sack, edge = newElement()
  }
  private val next = RegInit(Word.none())
  private val edge = Reg(UInt(4 bits)) // the one behind that which `next` lays out
  private val behindTimestamps = scales ? Word.windowScale() | (blocks.orR ? Word.sack() | Word.none())

  private val edges = Vec(segment.sack.flatMap(block => Seq(block.left, block.right)))
  private val chosen = edges(edge(2 downto 0))
  private val isBelow = segment.duplicateBelow && !(edge >> 1).orR && chosen.orR
  private val offset = RegNext((isBelow.asSInt.resize(32 - widthOf(chosen)) ## chosen).asUInt)

  private val word = Reg(Bits(32 bits))
  switch(next) {
    is(Word.mss) {
      word := SegmentHeader.mssOption(config)
      next := (timestamped || permitsSack) ? Word.prefix() | behindTimestamps
    }
    is(Word.prefix) {
      word := timestamped ? (permitsSack ? B(0x0402080a, 32 bits) | B(0x0101080a, 32 bits)) | B(0x01010402, 32 bits)
      next := timestamped ? Word.timestampValue() | behindTimestamps
    }
    is(Word.timestampValue) {
      word := segment.timestampValue.asBits
      next := Word.timestampEcho
    }
    is(Word.timestampEcho) {
      word := segment.timestampEcho.asBits
      next := behindTimestamps
    }
    is(Word.windowScale) {
      word := SegmentHeader.windowScaleOption(config)
      next := Word.none
    }
    is(Word.sack) {
      word := B(0x010105, 24 bits) ## (blocks @@ U(2, 3 bits)).asBits.resize(8)
      edge := edge + 1
      next := Word.edge
    }
    is(Word.edge) {
      word := (segment.acknowledgment + offset).value.asBits
      edge := edge + 1
      when(edge === blocks @@ U(0, 1 bit))(next := Word.none)
    }
  }
  when(starts) {
    edge := 0
    next := syn ? Word.mss() | (timestamped ? Word.prefix() | (blocksNow.orR ? Word.sack() | Word.none()))
  }

  // ---- into the list, and into the sum
  private val laid = RegNext(next =/= Word.none && !starts) init False
  private val position = Reg(UInt(4 bits))
  private val options = Reg(Vec.fill(SegmentHeader.maxOptionWords)(Bits(32 bits)))
  private val sum = Reg(UInt(21 bits))
  private val clears = RegNext(starts) init False // no word is there yet
  when(laid) {
    options(position) := word
    position := position + 1
    sum := sum + (word(31 downto 16).asUInt +^ word(15 downto 0).asUInt)
  }
  when(clears) {
    options.foreach(_ := 0)
    position := 0
    sum := U(26, 21 bits) + (io.words << 2)
  }

  io.options := options
  io.sum := sum
  io.busy := next =/= Word.none || laid
}
