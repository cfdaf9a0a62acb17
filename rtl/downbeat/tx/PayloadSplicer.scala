// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.memory.ByteShift
import downbeat.wire.TransmitBeat
import spinal.core._
import spinal.lib._

/** Inserts payload behind the headers: it shifts the payload by 6 or 2 bytes and carries the bytes that do not fit into
  * the next beat.
  */
case class PayloadSplicer(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val headers = slave(Stream(HeaderBeat(config)))
    val payload = slave(Stream(PayloadBeat(config.beatBytes)))
    val beats = master(Stream(TransmitBeat(config.vlanBits, config.beatBytes)))
  }
  noIoPrefix()

  private val head = io.headers
  private val spent = RegInit(False) // the frame's payload has been taken, all of it
  private val takes = head.splice && !spent

  private val fresh = takes ? io.payload.data | B(0, config.beatBits bits)
  // The beat and what is carried, two bytes less. Headers end two bytes and a number of words into a beat: the further,
  // the more zeros of those below the payload.
  private val zeros = B(0, config.beatBits - 16 bits)
  private val moved = ByteShift.window(zeros ## fresh ## zeros, ~head.endInBeat, 2 * config.beatBytes - 2, unit = 4)
  private val carry = RegNextWhen(moved(moved.high downto config.beatBits), io.beats.fire) init 0

  io.beats.valid := head.valid && (!takes || io.payload.valid)
  io.beats.payload := head.beat
  io.beats.frame.data.allowOverride() := head.beat.frame.data | carry.resize(config.beatBits) | moved(
    config.beatBits - 1 downto 0)

  head.ready := io.beats.ready && (!takes || io.payload.valid)
  io.payload.ready := io.beats.ready && head.valid && takes
  when(io.beats.fire)(spent := !head.beat.frame.last && (spent || takes && io.payload.last))
}
