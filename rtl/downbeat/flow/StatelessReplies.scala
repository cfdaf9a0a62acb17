// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.lib.Tally
import downbeat.messages.{ReceivedSegment, StatelessReply}
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._

/** A segment that belongs to no connection. */
case class StraySegment(config: DownbeatConfig) extends Bundle {
  val segment = ReceivedSegment(config)
  /** It is a SYN, and answered with this number; otherwise by a RST. */
  val hasCookie = Bool()
  val cookie = UInt(32 bits)
}

/** Replies to segments that belong to no connection. With a RST (RFC 9293 3.10.7.1):
  *  - if they have ACK: <SEQ=SEG.ACK><CTL=RST>
  *  - if not: <SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK>, where SYN and FIN count in SEG.LEN.
  *
  * With a cookie: <SEQ=cookie><ACK=SEG.SEQ+1><CTL=SYN,ACK>. The peer sends data that came with the SYN again.
  *
  * A reply that finds the queue full is dropped and counted: the peer sends its segment again.
  */
case class StatelessReplies(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val statelessReplies = slave(Flow(StraySegment(config)))
    val answers = master(Stream(StatelessReply(config.vlanBits)))
    val dropped = out UInt (config.counterBits bits)
    val idle = out Bool ()
  }
  noIoPrefix()

  private val counted = new Area {
    val valid = RegNext(io.statelessReplies.valid) init False
    val stateless = RegNextWhen(io.statelessReplies.payload, io.statelessReplies.valid)
    private val asked = io.statelessReplies.segment
    val length = RegNextWhen(
      io.statelessReplies.hasCookie ? U(1, 15 bits) | (asked.length.resize(
        15) + (asked.flags.syn.asUInt +^ asked.flags.fin.asUInt)),
      io.statelessReplies.valid)
  }
  private val segment = counted.stateless.segment
  private val hasCookie = counted.stateless.hasCookie

  private val queue = new StreamFifo(StatelessReply(config.vlanBits), 4, forFMax = true)
  private val answer = Flow(StatelessReply(config.vlanBits))
  answer.valid := counted.valid
  answer.remoteMac := segment.remoteMac
  answer.vlan := segment.vlan
  answer.remoteIp := segment.remoteIp
  answer.remotePort := segment.remotePort
  answer.localPort := segment.localPort
  answer.ack := !segment.flags.ack
  answer.syn := hasCookie
  answer.sequence := SequenceNumber(
    hasCookie ? counted.stateless.cookie | (segment.flags.ack ? segment.acknowledgment.value | U(0, 32 bits)))
  answer.acknowledgment := SequenceNumber(segment.flags.ack ? U(0, 32 bits) | (segment.sequence + counted.length).value)

  private val answered = answer.m2sPipe()
  queue.io.push.valid := answered.valid
  queue.io.push.payload := answered.payload
  io.answers << queue.io.pop.halfPipe()

  io.dropped := Tally(queue.io.push.isStall, config.counterBits)
  io.idle := !counted.valid && !answered.valid && queue.io.occupancy === 0 && !io.answers.valid
}
