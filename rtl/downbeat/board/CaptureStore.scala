// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import spinal.core._
import spinal.lib._
import spinal.lib.memory.sdram.sdr.SdramCtrlCmd

/** The words of captured frames that wait for the host, `board.captureWords` of them: in the board's SDRAM, or where it
  * has none in block RAM.
  *
  * `hasSpace`: for four records at least. It is low while the SDRAM starts up.
  */
case class CaptureStore(board: Board) extends Component {
  private val depth = board.captureWords
  val io = new Bundle {
    val push = slave(Stream(Bits(64 bits)))
    val pop = master(Stream(Bits(64 bits)))
    val level = out UInt (log2Up(depth + 1) bits)
    val hasSpace = out Bool ()
    val sdram = board.sdram.map(chip => master(SdramPins(chip.layout)))
  }
  noIoPrefix()

  private val waiting = Reg(UInt(log2Up(depth + 1) bits)) init 0
  waiting := waiting + io.push.fire.asUInt - io.pop.fire.asUInt
  io.level := waiting

  /** The memory that words wait in; `up` once it can be written. */
  private abstract class Words extends Area {
    def up: Bool
  }
  private val words = board.sdram match {
    case Some(chip) => new InSdram(chip)
    case None => new InBlockRam
  }
  io.hasSpace := RegNext(words.up && waiting < depth - 4 * CapturePort.recordWords) init False

  private class InBlockRam extends Words {
    val up: Bool = True
    private val queue = StreamFifo(Bits(64 bits), depth, latency = 2, forFMax = true)
    queue.io.push << io.push
    io.pop << queue.io.pop
  }

  private class InSdram(chip: SdramChip) extends Words {
    private val timed = new ClockingArea(ClockDomain.current.copy(frequency = ClockDomain.FixedFrequency(board.core))) {
      val sdram = SdramPort(chip)
      val memory = sdram.io.bus.genScaledUpDriver(64 / chip.layout.dataWidth)
    }
    private val memory = timed.memory
    private val addressBits = log2Up(depth)
    require(isPow2(depth) && addressBits <= memory.c.wordAddressWidth,
      s"${board.name}: $depth captured words in an SDRAM of ${BigInt(1) << memory.c.wordAddressWidth}: use a power of two that fits")
    timed.sdram.io.pins <> io.sdram.get

    // The first command, a read, gets its response when the controller has started the chip; that word is not used.
    private val requested = RegInit(False)
    val up: Bool = RegInit(False)
    private val written, read = Reg(UInt(addressBits + 1 bits)) init 0
    private val ahead = StreamFifo(Bits(64 bits), 4) // words that were read before the host asks for them
    private val promised = Reg(UInt(3 bits)) init 0 // its places that are promised to reads
    private val writes, reads = Stream(SdramCtrlCmd(memory.c, NoData()))
    for ((command, place) <- Seq(writes -> written, reads -> read)) {
      command.address := place.resize(addressBits).resized
      command.data := io.push.payload
      command.mask.setAll()
    }
    writes.write := True
    writes.valid := io.push.valid && up && waiting =/= depth
    io.push.ready := writes.fire
    reads.write := False
    reads.valid := !requested || up && written =/= read && promised =/= ahead.depth
    memory.cmd << StreamArbiterFactory().lowerFirst.transactionLock.onArgs(writes, reads).s2mPipe().m2sPipe()
    when(writes.fire)(written := written + 1)
    when(reads.fire) {
      requested := True
      when(up)(read := read + 1)
    }
    promised := promised + (reads.fire && up).asUInt - io.pop.fire.asUInt

    memory.rsp.ready := True
    when(memory.rsp.valid)(up := True)
    ahead.io.push.valid := memory.rsp.valid && up
    ahead.io.push.payload := memory.rsp.data
    io.pop << ahead.io.pop
  }
}
