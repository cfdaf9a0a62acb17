// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.wire.{SackBlock, SequenceNumber}
import spinal.core._
import spinal.lib._

/** A block of a SACK option as on the wire (RFC 2018 3). */
case class SackEdges() extends Bundle {
  val left, right = UInt(32 bits)
  val first = Bool() // first of its option
}

/** Converts the edges of SACK blocks to bytes from SEG.ACK on, and drops blocks that lie outside the send buffer.
  *
  * RFC 2883 4: a first block at or before SEG.ACK, or inside the second one, reports data that came twice.
  */
case class SackReader(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    /** A list begins: there are no blocks. An option's first block begins again likewise. */
    val restart = in Bool ()
    val blocks = slave Flow (SackEdges())
    /** Read with the blocks. */
    val acknowledgment = in(SequenceNumber())
    /** A block is here two clocks later. */
    val sack = out Vec (SackBlock(config.sendOffsetBits), 4)
    val duplicate = out Bool ()
  }
  noIoPrefix()

  private val bits = config.sendOffsetBits
  private val left = RegNext(io.blocks.left - io.acknowledgment.value)
  private val right = RegNext(io.blocks.right - io.acknowledgment.value)
  private val span = RegNext(io.blocks.right - io.blocks.left)
  private val valid = RegNext(io.blocks.valid) init False
  private val first = RegNext(io.blocks.first)

  private val ordered = !span.msb && span.orR
  private val beyond = right(31 downto bits).orR || (right(bits - 1) && right(bits - 2 downto 0).orR)
  private val inBuffer = ordered && !beyond && left.orR && !left(31 downto bits).orR

  private val sack = Reg(Vec.fill(4)(SackBlock(bits)))
  private val before = Reg(Bool()) // the first block, SEG.ACK
  private val next = Reg(UInt(2 bits))
  private val index = first ? U(0, 2 bits) | next
  when(io.restart || (valid && first)) {
    sack.foreach(_.valid := False)
    before := False
  }
  when(valid) {
    next := index + 1
    sack(index).valid := inBuffer
    sack(index).left := left.resized
    sack(index).right := right.resized
    when(first)(before := ordered && (right.msb || !right.orR))
  }

  private val inSecond =
    sack(0).valid && sack(1).valid && !(sack(0).left < sack(1).left) && !(sack(1).right < sack(0).right)
  io.duplicate := before || inSecond
  io.sack := sack
  io.sack(0).valid.allowOverride() := sack(0).valid && !inSecond
}
