// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.lib.Tally
import downbeat.messages.{ReceivedSegment, StatelessReply, TimeWaitNumbers}
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._

/** A segment that belongs to no flow. */
case class StatelessSegment(config: DownbeatConfig) extends Bundle {
  val segment = ReceivedSegment(config)
  /** It is a SYN, and answered with this number. */
  val hasCookie = Bool()
  val cookie = UInt(32 bits)
  /** Its connection is in TIME-WAIT, and answers with these numbers. Otherwise it is answered by a RST. */
  val waits = Bool()
  val numbers = TimeWaitNumbers()
  val timestamp = UInt(32 bits) // TSval
}

/** Replies to segments that belong to no flow. With a RST (RFC 9293 3.10.7.1):
  *  - if they have ACK: <SEQ=SEG.ACK><CTL=RST>
  *  - if not: <SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK>, where SYN and FIN count in SEG.LEN.
  *
  * With a cookie: <SEQ=cookie><ACK=SEG.SEQ+1><CTL=SYN,ACK>. The peer sends data that came with the SYN again.
  *
  * In TIME-WAIT: <SEQ=SND.NXT><ACK=RCV.NXT><CTL=ACK>, with a window of zero, as no more can come.
  *
  * A reply that finds the queue full is dropped and counted: the peer sends its segment again.
  */
case class StatelessReplies(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val statelessReplies = slave(Flow(StatelessSegment(config)))
    val replies = master(Stream(StatelessReply(config.vlanBits)))
    val dropped = out UInt (config.counterBits bits)
    val idle = out Bool ()
  }
  noIoPrefix()

  private val counted = new Area {
    val valid = RegNext(io.statelessReplies.valid) init False
    val stateless = RegNextWhen(io.statelessReplies.payload, io.statelessReplies.valid)
    private val received = io.statelessReplies.segment
    val length = RegNextWhen(
      io.statelessReplies.hasCookie ? U(1, 15 bits) | (received.length.resize(
        15) + (received.flags.syn.asUInt +^ received.flags.fin.asUInt)),
      io.statelessReplies.valid)
  }
  private val segment = counted.stateless.segment
  private val hasCookie = counted.stateless.hasCookie

  private val queue = new StreamFifo(StatelessReply(config.vlanBits), 4, forFMax = true)
  private val reply = Flow(StatelessReply(config.vlanBits))
  reply.valid := counted.valid
  reply.remoteMac := segment.remoteMac
  reply.vlan := segment.vlan
  reply.remoteIp := segment.remoteIp
  reply.remotePort := segment.remotePort
  reply.localPort := segment.localPort
  reply.ack := !segment.flags.ack
  reply.syn := hasCookie
  reply.rst := !hasCookie
  reply.sequence := SequenceNumber(
    hasCookie ? counted.stateless.cookie | (segment.flags.ack ? segment.acknowledgment.value | U(0, 32 bits)))
  reply.acknowledgment := SequenceNumber(segment.flags.ack ? U(0, 32 bits) | (segment.sequence + counted.length).value)
  private val numbers = counted.stateless.numbers
  reply.timestamped := counted.stateless.waits && numbers.timestamped
  reply.timestampValue := counted.stateless.timestamp
  reply.timestampEcho := numbers.recent
  when(counted.stateless.waits) {
    reply.ack := True
    reply.rst := False
    reply.sequence := numbers.next
    reply.acknowledgment := numbers.received
  }

  private val replied = reply.m2sPipe()
  queue.io.push.valid := replied.valid
  queue.io.push.payload := replied.payload
  io.replies << queue.io.pop.halfPipe()

  io.dropped := Tally(queue.io.push.isStall, config.counterBits)
  io.idle := !counted.valid && !replied.valid && queue.io.occupancy === 0 && !io.replies.valid
}
