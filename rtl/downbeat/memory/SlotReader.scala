// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import downbeat.messages.{Placement, SlotReadPort}
import spinal.core._
import spinal.lib._

/** Reads the bytes of each placement from its slot, a word a clock, and gives the slot back. */
case class SlotReader(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val placements = slave(Stream(Placement(config)))
    val slot = master(SlotReadPort(config))
    val words = master(Stream(RunWord(config.beatBytes)))
    val free = master(Flow(UInt(config.slotBits bits)))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val beatBits = config.slotBeatBits

  private case class Run() extends Bundle {
    val slot = UInt(config.slotBits bits)
    val held = Bool()
    /** There is nothing to read. */
    val empty = Bool()
    val first, last = UInt(beatBits bits)
    val start, stop = UInt(config.beatByteBits bits)
  }
  private val run = io.placements.map { placement =>
    val run = Run()
    val end = (placement.payload.offset + placement.length) - 1 // last byte
    run.slot := placement.payload.slot
    run.held := placement.payload.held
    run.empty := placement.discard || placement.length === 0
    run.first := placement.payload.offset(config.beatByteBits, beatBits bits)
    run.last := end(config.beatByteBits, beatBits bits)
    run.start := placement.payload.offset(config.beatByteBits - 1 downto 0)
    run.stop := end(config.beatByteBits - 1 downto 0)
    run
  }.s2mPipe().m2sPipe(holdPayload = true)

  private val beat = Reg(UInt(beatBits bits))
  private val begun = RegInit(False)
  private val current = begun ? beat | run.first
  private val last = current === run.last

  private val requested = Stream(RunWord(config.beatBytes))
  requested.valid := run.valid && !run.empty
  requested.data.assignDontCare()
  requested.start := run.start
  requested.stop := run.stop
  requested.last := last
  when(requested.fire) {
    beat := current + 1
    begun := !last
  }
  run.ready := run.empty || (requested.ready && last)

  io.slot.enable := requested.fire
  io.slot.slot := run.slot
  io.slot.beat := current

  private val arrived = requested.m2sPipe(holdPayload = true)
  io.words << arrived.map { word =>
    val filled = RunWord(config.beatBytes)
    filled := word
    filled.data.removeAssignments() := io.slot.data
    filled
  }

  io.free.valid := RegNext(run.fire && run.held) init False
  io.free.payload := RegNextWhen(run.slot, run.fire)

  io.idle := !run.valid && !arrived.valid && !io.free.valid
}
