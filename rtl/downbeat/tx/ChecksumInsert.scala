// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.messages.FlowReference
import downbeat.wire.OnesComplement.foldLast
import spinal.core._
import spinal.lib._

/** Adds the payload's sum to the header's (RFC 1071), as soon as all of the payload is in the store; three clocks a frame, hidden behind
  * the frame before. Takes `release` out of the line: what was before it is built. A frame whose payload the memory refused is `dropped`.
  */
case class ChecksumInsert(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val entries = slave(Stream(DataEntry(config, FramePlan(config))))
    val sums = slave(Stream(PayloadSum()))
    val frames = master(Stream(FramePlan(config)))
    /** A frame of it is not sent. */
    val failed = master(Flow(FlowReference(config)))
    val released = master(Flow(UInt(config.flowBits bits)))
    val idle = out Bool ()
  }
  noIoPrefix()

  private val entry = io.entries.halfPipe() // the line's ready hangs on nothing behind it
  private val added, finished = RegInit(False)
  private val start = entry.valid && !entry.release && !added && !finished && (!entry.frame.hasPayload || io.sums.valid)
  io.sums.ready := start && entry.frame.hasPayload

  private val refused = start && entry.frame.hasPayload && io.sums.failed
  io.failed.valid := refused
  io.failed.payload := entry.reference

  private val payloadSum = entry.frame.hasPayload ? io.sums.value | U(0, 16 bits)
  private val sum = RegNextWhen(entry.frame.tcpSum +^ payloadSum, start)
  private val folded = RegNextWhen(foldLast(sum), added)
  private val dropped = RegNextWhen(refused, start)
  added := start
  finished := added || finished && !io.frames.ready

  io.frames.valid := finished
  io.frames.payload := entry.frame
  io.frames.tcpSum.allowOverride() := folded
  io.frames.dropped.allowOverride() := dropped
  io.released.valid := entry.valid && entry.release
  io.released.payload := entry.reference.flow
  entry.ready := entry.release || io.frames.fire
  io.idle := !entry.valid
}
