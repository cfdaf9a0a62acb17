// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import downbeat.messages.Transfer
import downbeat.wire.FrameBeat
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** Reads transfers from a buffer and delivers each as a frame that starts at byte 0. A transfer of no bytes yields
  * nothing.
  *
  * A burst is requested when the queue here has space for all of it: a consumer that stalls never stalls the memory for
  * others. The reads of the next transfer begin while this one's bytes leave.
  */
case class BurstReader(config: DownbeatConfig, bufferBytes: Int, base: Long, lengthBits: Int = 14) extends Component {
  val io = new Bundle {
    val transfers = slave(Stream(Transfer(config, lengthBits)))
    val data = master(Stream(FrameBeat(bytes = config.beatBytes)))
    /** The memory reported an error for bytes of this frame; read with the last beat of `data`. */
    val failed = out(Bool())
    val axi = master(Axi4ReadOnly(MemoryPort.config(config)))
    val idle = out(Bool())
  }
  noIoPrefix()
  Axi4SpecRenamer(io.axi)

  private val queueWords = 512
  /** Words of the queue that no burst has reserved. */
  private val free = Reg(UInt(log2Up(queueWords + 1) bits)) init queueWords
  // A whole page, whatever the burst needs: upper bits instead of a comparison.
  private val hasSpace = free(free.high downto MemoryPort.pageWordBits(config)) =/= 0

  private val splitter = BurstSplitter(config, bufferBytes, lengthBits)
  private val transfer = io.transfers.halfPipe()
  splitter.io.transfers << transfer.throwWhen(transfer.length === 0)
  private val bursts = splitter.io.bursts.halfPipe()
  private val (commands, marks) = StreamFork2(bursts.continueWhen(hasSpace))
  io.axi.ar << commands.map(_.command(io.axi.ar.payload, base)).halfPipe()

  /** Values for a burst that its words do not carry. */
  private case class Mark() extends Bundle {
    val start, stop = UInt(config.beatByteBits bits)
    val last = Bool()
  }
  private val mark = marks.map { burst =>
    val mark = Mark()
    mark.start := burst.shift
    mark.stop := burst.stop(config.beatByteBits - 1 downto 0)
    mark.last := burst.last
    mark
  }.queue(16, latency = 1).m2sPipe(holdPayload = true)

  private case class Word() extends Bundle {
    val data = Bits(config.beatBits bits)
    val last = Bool()
    val failed = Bool()
  }
  private val words = io.axi.r.map { response =>
    val word = Word()
    word.data := response.data
    word.last := response.last
    word.failed := response.resp(1) // SLVERR or DECERR
    word
  }.queue(queueWords, forFMax = true).m2sPipe(holdPayload = true)
  mark.ready := words.fire && words.last

  private val taken = bursts.fire ? (bursts.length +^ 1) | U(0, 9 bits)
  free := (free + words.fire.asUInt) - taken

  private val realigner = Realigner(config.beatBytes)
  private val marked = words.continueWhen(mark.valid).map { word =>
    val run = RunWord(config.beatBytes)
    run.data := word.data
    run.start := mark.start
    run.stop := mark.stop
    run.last := word.last && mark.last
    run
  }
  realigner.io.words << marked.s2mPipe()
  io.data << realigner.io.beats

  // One verdict for each frame that is in the realigner, there before its last beat is.
  private val failedBefore = RegInit(False)
  when(marked.fire)(failedBefore := !marked.last && (words.failed || failedBefore))
  private val verdicts = StreamFifo(Bool(), 16, latency = 1)
  verdicts.io.push.valid := marked.fire && marked.last
  verdicts.io.push.payload := words.failed || failedBefore
  verdicts.io.pop.ready := io.data.fire && io.data.last
  io.failed := verdicts.io.pop.payload

  io.idle := !transfer.valid && splitter.io.idle && !bursts.valid && free === queueWords && realigner.io.idle
}
