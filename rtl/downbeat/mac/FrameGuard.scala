// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.config.DownbeatConfig
import downbeat.lib.Tally
import downbeat.wire.ReceivedBeat
import spinal.core._
import spinal.lib._

/** Ends a frame that a soft reset has cut: its last beat is marked as damaged. It counts good frames. */
case class FrameGuard(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    /** May vanish while `cut`. */
    val source = slave Stream (ReceivedBeat())
    val cut = in Bool ()
    val beats = master Stream (ReceivedBeat())
    val frames = out UInt (config.counterBits bits)
  }
  noIoPrefix()

  private val inFrame, wasCut = RegInit(False)
  private val cut = io.cut || wasCut
  private val guarded = cloneOf(io.source)
  guarded.valid := cut ? inFrame | io.source.valid
  guarded.payload := io.source.payload
  when(cut) {
    guarded.frame.keep := 1
    guarded.frame.last := True
    guarded.error := True
  }
  io.source.ready := guarded.ready && !cut
  when(guarded.fire)(inFrame := !guarded.frame.last)
  // The core may take the last beat long after the soft reset.
  wasCut := cut && inFrame && !guarded.fire
  io.beats << guarded.m2sPipe()

  io.frames := Tally(io.source.fire && io.source.frame.last && !io.source.error, config.counterBits)
}
