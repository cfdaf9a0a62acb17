// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.DownbeatConfig
import downbeat.rx.ReceivedSegment
import downbeat.tx.StrayReset
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._

/** Answers segments that belong to no connection (RFC 9293 3.10.7.1):
  *  - with ACK: <SEQ=SEG.ACK><CTL=RST>
  *  - without: <SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK>, where SYN and FIN count in SEG.LEN.
  *
  * An answer that finds the queue full is dropped and counted: the peer will ask again.
  */
case class StrayAnswers(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val strays = slave(Flow(ReceivedSegment(config)))
    val resets = master(Stream(StrayReset()))
    val dropped = out UInt (32 bits)
    val idle = out Bool ()
  }
  noIoPrefix()

  private val counted = new Area {
    val valid = RegNext(io.strays.valid) init False
    val segment = RegNextWhen(io.strays.payload, io.strays.valid)
    val length = RegNextWhen(
      io.strays.length.resize(15) + (io.strays.flags.syn.asUInt +^ io.strays.flags.fin.asUInt), io.strays.valid)
  }

  private val queue = new StreamFifo(StrayReset(), 4, forFMax = true)
  private val reset = Flow(StrayReset())
  reset.valid := counted.valid
  reset.remoteMac := counted.segment.remoteMac
  reset.remoteIp := counted.segment.remoteIp
  reset.remotePort := counted.segment.remotePort
  reset.localPort := counted.segment.localPort
  reset.ack := !counted.segment.flags.ack
  reset.sequence := SequenceNumber(counted.segment.flags.ack ? counted.segment.acknowledgment.value | U(0, 32 bits))
  reset.acknowledgment := SequenceNumber(
    counted.segment.flags.ack ? U(0, 32 bits) | (counted.segment.sequence + counted.length).value)

  private val answered = reset.m2sPipe()
  queue.io.push.valid := answered.valid
  queue.io.push.payload := answered.payload
  io.resets << queue.io.pop

  private val dropped = Reg(UInt(32 bits)) init 0
  when(queue.io.push.isStall)(dropped := dropped + 1)
  io.dropped := dropped
  io.idle := !counted.valid && !answered.valid && queue.io.occupancy === 0
}
