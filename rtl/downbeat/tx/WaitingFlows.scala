// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import spinal.core._
import spinal.lib._

/** The flows of the frames that wait in a line, in their order: tells whether one of them is `flow`'s. */
case class WaitingFlows(flowBits: Int, frames: Int) extends Component {
  val io = new Bundle {
    val enters = slave(Flow(UInt(flowBits bits)))
    /** The oldest frame leaves. */
    val leaves = in Bool ()
    val flow = in UInt (flowBits bits)
    /** A flow waited in the clock before. */
    val waits = out Bool ()
  }
  noIoPrefix()

  private val entries = Vec.fill(frames)(Reg(UInt(flowBits bits)))
  private val taken = Vec.fill(frames)(RegInit(False))
  private val newest = Counter(frames, io.enters.valid)
  private val oldest = Counter(frames, io.leaves)

  when(io.leaves)(taken(oldest) := False)
  when(io.enters.valid) {
    taken(newest) := True
    entries(newest) := io.enters.payload
  }
  private val matches = entries.toSeq.zip(taken).map { case (entry, is) => RegNext(is && entry === io.flow, False) }
  io.waits := matches.orR

  assert(!(io.enters.valid && taken(newest)), "a frame of a full line is lost")
  assert(!(io.leaves && !taken(oldest)), "a frame leaves an empty line")
}
