// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.wire.TransmitBeat
import spinal.core._
import spinal.lib._

/** Inserts payload behind the headers: it shifts the payload by 6 or 2 bytes and carries the bytes that do not fit into
  * the next beat.
  */
case class PayloadSplicer(vlanBits: Int) extends Component {
  val io = new Bundle {
    val headers = slave(Stream(HeaderBeat(vlanBits)))
    val payload = slave(Stream(PayloadBeat()))
    val beats = master(Stream(TransmitBeat(vlanBits)))
  }
  noIoPrefix()

  private val head = io.headers
  private val spent = RegInit(False) // the frame's payload has been taken, all of it
  private val takes = head.splice && !spent

  private val fresh = takes ? io.payload.data | B(0, 64 bits)
  private val moved = head.endsAtSix ? (fresh << 48) | (fresh << 16).resize(112)
  private val carry = RegNextWhen(moved(111 downto 64), io.beats.fire) init 0

  io.beats.valid := head.valid && (!takes || io.payload.valid)
  io.beats.payload := head.beat
  io.beats.frame.data.allowOverride() := head.beat.frame.data | carry.resize(64) | moved(63 downto 0)

  head.ready := io.beats.ready && (!takes || io.payload.valid)
  io.payload.ready := io.beats.ready && head.valid && takes
  when(io.beats.fire)(spent := !head.beat.frame.last && (spent || takes && io.payload.last))
}
