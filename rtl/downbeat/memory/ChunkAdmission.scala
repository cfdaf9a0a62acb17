// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import downbeat.lib.Tally
import downbeat.messages.{FlowPosition, Transfer}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** A chunk of a frame, and how many of its bytes were taken. */
case class AdmittedChunk(config: DownbeatConfig) extends Bundle {
  val transfer = Transfer(config) // the accepted bytes, perhaps none
  /** Words of the chunk, less one. */
  val words = UInt(MemoryPort.pageWordBits(config) bits)
  /** Words of it to write. */
  val wordsTaken = UInt(MemoryPort.pageWordBits(config) + 1 bits)
  /** The end of its frame; that is also the end of urgent data. */
  val last, urgent = Bool()
  /** Bytes taken of the frame up to here. */
  val frameTaken = UInt(log2Up(config.sendBufferBytes + 1) bits)
}

/** Gives each chunk its address: from the flow's `written` on, up to acknowledged + the buffer's size. When a chunk
  * does not fit, the rest of its frame is dropped too, even if space appears meanwhile. It takes six clocks for a
  * chunk.
  */
case class ChunkAdmission(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val chunks = slave(Stream(Chunk(config)))
    val opened, acknowledged = slave(Flow(FlowPosition(config)))
    val admitted = master(Stream(AdmittedChunk(config)))
    /** Frames cut, since reset. */
    val overruns = out(UInt(config.counterBits bits))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val written, acknowledged = FlowPointers(config)
  for (pointers <- Seq(written, acknowledged)) {
    pointers.io.opened << io.opened
    pointers.io.request.payload := io.chunks.flow
  }
  acknowledged.io.updates << FlowPointers.patient(io.acknowledged)

  private val spaceBits = log2Up(config.sendBufferBytes + 1)
  private val start = Reg(FlowPosition(config))
  // Signed: until the SYN is acknowledged, `acknowledged` may lie before the first byte, and with a FIN after the last.
  private val used, space = Reg(SInt(spaceBits + 1 bits))
  private val bytes = Reg(UInt(12 bits))
  private val taken = Reg(UInt(12 bits))
  private val short = RegInit(False)
  /** The frame was cut before this chunk. */
  private val wasCut = RegInit(False)
  private val frameTaken = Reg(UInt(spaceBits bits)) init 0

  private val overrun = False
  io.overruns := Tally(overrun, config.counterBits)

  private val requesting = False
  private val placed = Stream(NoData())
  placed.valid := False
  for (pointers <- Seq(written, acknowledged)) pointers.io.request.valid := requesting

  private val fsm = new StateMachine {
    val waiting: State = new State with EntryPoint {
      whenIsActive {
        requesting := io.chunks.valid
        when(io.chunks.valid)(goto(responding))
      }
    }
    val responding: State = new State {
      whenIsActive {
        start.flow := io.chunks.flow
        start.sequence := written.io.response
        used := written.io.response.since(acknowledged.io.response).asSInt.resized
        bytes := io.chunks.length +^ 1
        goto(measuring)
      }
    }
    val measuring: State = new State {
      whenIsActive {
        space := S(config.sendBufferBytes, spaceBits + 1 bits) - used
        goto(deciding)
      }
    }
    val deciding: State = new State {
      whenIsActive {
        val fits = !(space < bytes.intoSInt)
        taken := (wasCut || space.msb) ? U(0, 12 bits) | (fits ? bytes | space.asUInt.resized)
        short := !fits || wasCut
        goto(adding)
      }
    }
    val adding: State = new State {
      whenIsActive {
        frameTaken := frameTaken + taken
        goto(placing)
      }
    }
    val placing: State = new State {
      whenIsActive {
        placed.valid := True
        when(placed.fire) {
          wasCut := short && !io.chunks.last
          when(io.chunks.last) {
            frameTaken := 0
            overrun := short
          }
          goto(waiting)
        }
      }
    }
  }

  io.chunks.ready := placed.fire
  private val (leaving, advancing) = StreamFork2(placed)

  private val admitted = AdmittedChunk(config)
  admitted.transfer.flow := start.flow
  admitted.transfer.sequence := start.sequence
  admitted.transfer.length := taken.resized
  admitted.words := io.chunks.length(io.chunks.length.high downto config.beatByteBits)
  admitted.wordsTaken := (taken + (config.beatBytes - 1))(11 downto config.beatByteBits)
  admitted.last := io.chunks.last
  admitted.urgent := io.chunks.urgent
  admitted.frameTaken := frameTaken
  io.admitted << leaving.translateWith(admitted)

  private val advanced = FlowPosition(config)
  advanced.flow := start.flow
  advanced.sequence := start.sequence + taken
  written.io.updates << advancing.translateWith(advanced)

  io.idle := fsm.isActive(fsm.waiting) && !acknowledged.io.updates.valid
}
