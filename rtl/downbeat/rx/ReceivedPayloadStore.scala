// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.messages.SlotReadPort
import spinal.core._
import spinal.lib._

/** A slot that a frame may have. */
case class FrameSlot(config: DownbeatConfig) extends Bundle {
  val held = Bool()
  val slot = UInt(config.slotBits bits)
}

/** Slots of one frame each in one memory. Each frame is written into the slot at hand as it comes; whoever wants to keep it takes
  * the slot away with the frame's end, and the next frame gets a free one. Without a free one it is not written.
  */
case class ReceivedPayloadStore(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    /** A frame's first beat passes. Its slot is settled now. */
    val start = in Bool ()
    val stored = slave Flow (StoredBeat(config))
    /** The slot of the frame that passes, and: it is taken away. */
    val filling = out(FrameSlot(config))
    val take = in Bool ()
    /** Slots come back. A frame that nobody wanted after all; what the reader has done with. */
    val rejected, free = slave Flow (UInt(config.slotBits bits))
    val read = slave(SlotReadPort(config))
  }
  noIoPrefix()

  private val memory = Mem(Bits(64 bits), config.payloadSlots << config.slotBeatBits).addAttribute("no_rw_check")
  io.read.data := memory.readSync(io.read.slot @@ io.read.beat, io.read.enable)

  private val filling = Reg(FrameSlot(config))
  filling.held init False
  io.filling := filling
  memory.write(
    address = filling.slot @@ io.stored.index.resize(config.slotBeatBits),
    data = io.stored.frame.data,
    enable = io.stored.valid && filling.held && !io.stored.index.msb
  )

  private val vacant = RegInit(B(config.payloadSlots bits, default -> true))
  private val moves = io.start && (io.take || !filling.held)
  when(io.take)(filling.held := False)
  when(moves) {
    filling.held := vacant.orR
    filling.slot := OHToUInt(OHMasking.first(vacant))
  }
  private def mask(slots: Flow[UInt]) = UIntToOh(slots.payload, config.payloadSlots).andMask(slots.valid)
  // A slot is known to be held a clock after it is; frames are longer.
  private val moved = RegNext(moves) init False
  private val held = UIntToOh(filling.slot, config.payloadSlots).andMask(moved && filling.held)
  vacant := (vacant & ~held) | mask(io.rejected) | mask(io.free)
}
