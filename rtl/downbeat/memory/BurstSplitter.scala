// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import downbeat.messages.Transfer
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.{Axi4, Axi4Ax}

/** The part of a transfer that lies in one page of its flow's buffer: one burst. */
case class Burst(config: DownbeatConfig, bufferBytes: Int) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val page = UInt(log2Up(bufferBytes / MemoryPort.pageBytes) bits)
  /** First and last byte in the page. */
  val start, stop = UInt(log2Up(MemoryPort.pageBytes) bits)
  /** Beats less one, as AXI4 counts them. */
  val length = UInt(8 bits)
  /** Byte of its first word at which the whole transfer begins. */
  val shift = UInt(config.beatByteBits bits)
  /** The transfer's last burst. */
  val last = Bool()

  def command[T <: Axi4Ax](port: T, base: Long): T = {
    require(base % (config.flows.toLong * bufferBytes) == 0, s"base $base: use a multiple of all flows' buffers")
    val ax = port.clone.asInstanceOf[T]
    ax.addr := (flow @@ page @@ start(start.high downto config.beatByteBits) @@ U(0, config.beatByteBits bits)).resize(
      ax.addr.getWidth) | U(base,
      ax.addr.getWidth bits)
    ax.id := 0
    ax.len := length
    ax.size := log2Up(config.beatBytes)
    ax.burst := Axi4.burst.INCR
    ax
  }
}

/** Splits transfers into bursts that each stay in one page of 2 KiB, a burst a clock. The wrap of a buffer is the end
  * of a page too. A transfer must have at least one byte.
  *
  * The only arithmetic is the position of the transfer's last byte, counted from the start of the current page. Its
  * upper bits are the number of pages that follow; each burst subtracts one.
  */
case class BurstSplitter(config: DownbeatConfig, bufferBytes: Int, lengthBits: Int) extends Component {
  val io = new Bundle {
    val transfers = slave(Stream(Transfer(config, lengthBits)))
    val bursts = master(Stream(Burst(config, bufferBytes)))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val pageBits = log2Up(MemoryPort.pageBytes)
  private val pages = log2Up(bufferBytes) - 1 downto pageBits
  private val words = pageBits - 1 downto config.beatByteBits

  private val busy = RegInit(False)
  private val burst = Reg(Burst(config, bufferBytes))
  private val pagesAfter = Reg(UInt((lengthBits + 1 - pageBits max 1) bits))
  private val transferStop = Reg(UInt(pageBits bits)) // in its last page
  private val last = pagesAfter === 0

  io.bursts.valid := busy
  io.bursts.payload := burst
  io.bursts.last.removeAssignments() := last
  io.bursts.stop.removeAssignments() := last ? transferStop | U(MemoryPort.pageBytes - 1)
  io.bursts.length.removeAssignments() := (io.bursts.stop(words) - burst.start(words)).resized
  when(io.bursts.fire) {
    burst.page := burst.page + 1
    burst.start := 0
    pagesAfter := pagesAfter - 1
    busy := !last
  }

  io.transfers.ready := !busy || (io.bursts.ready && last)
  when(io.transfers.fire) {
    val position = io.transfers.sequence.value
    val end = (position(pageBits - 1 downto 0).resize(pagesAfter.getWidth + pageBits) + io.transfers.length) - 1
    busy := True
    burst.flow := io.transfers.flow
    burst.page := position(pages)
    burst.start := position(pageBits - 1 downto 0)
    burst.shift := position(config.beatByteBits - 1 downto 0)
    pagesAfter := end(end.high downto pageBits)
    transferStop := end.resized
  }

  io.idle := !busy
}
