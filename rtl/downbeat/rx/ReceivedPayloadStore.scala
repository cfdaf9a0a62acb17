// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.messages.SlotReadPort
import spinal.core._
import spinal.lib._

/** The slot of the passing frame, if it has one. */
case class FrameSlot(config: DownbeatConfig) extends Bundle {
  val held = Bool()
  val slot = UInt(config.slotBits bits)
}

/** Stores the frames whose payload waits for a verdict, one in each slot of a memory. Each frame is written into the
  * current slot as it comes. `take` keeps the slot at the frame's end, and the next frame gets a free one. Without a
  * free slot the frame is not written.
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

  private val memory =
    Mem(Bits(config.beatBits bits), config.payloadSlots << config.slotBeatBits).addAttribute("no_rw_check")
  io.read.data := memory.readSync(io.read.slot @@ io.read.beat, io.read.enable)

  private val filling = Reg(FrameSlot(config))
  filling.held init False
  io.filling := filling
  memory.write(
    address = filling.slot @@ io.stored.index.resize(config.slotBeatBits),
    data = io.stored.frame.data,
    enable = io.stored.valid && filling.held && !io.stored.index.msb)

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
