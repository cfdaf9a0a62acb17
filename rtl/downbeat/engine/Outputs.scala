// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.DownbeatConfig
import downbeat.congestion.{CongestionEvent, Window}
import downbeat.flow.FlowReference
import downbeat.rx.{NetworkError, PayloadReference}
import downbeat.time.{Instant, Stamp}
import downbeat.wire.{LaunchMode, SackBlock, SequenceNumber, TcpFlags}
import spinal.core._

/** A segment to build. In the line of descriptors one may also say that the flow's last frame has been built. */
case class SegmentDescriptor(config: DownbeatConfig) extends Bundle {
  /** No segment: every frame of this connection is built, the flow goes back to the free list. */
  val release = Bool()
  val reference = FlowReference(config)
  val sequence = SequenceNumber()
  val acknowledgment = SequenceNumber()
  val flags = TcpFlags() // with SYN the builder adds the MSS option
  val windowScaleOffered = Bool() // a SYN carries the window-scale option
  val window = UInt(16 bits) // as on the wire
  /** URG and a pointer go along if the segment begins before `urgentEnd`, low bits of a sequence number (RFC 9293 3.8.5). */
  val urgent = Bool()
  val urgentEnd = UInt(config.sendNumberBits bits)
  /** A SYN carries the SACK-permitted option. */
  val sackPermitted = Bool()
  /** It carries timestamps. */
  val timestamped = Bool()
  val timestampValue, timestampEcho = UInt(32 bits)
  /** Blocks of a SACK option, from `acknowledgment` on; as many of the first ones are sent as the header holds. */
  val sack = Vec.fill(DownbeatConfig.ranges)(SackBlock(config.receiveOffsetBits))
  /** Routers may mark it instead of dropping it (RFC 3168 5: ECT(0)). */
  val ecnCapable = Bool()
  val length = UInt(14 bits) // payload bytes, from the send buffer at `sequence`
  val mode = LaunchMode()
  val launch = Stamp()
  /** The departure stamp is to come back. */
  val stamped = Bool()
}

/** The verdict on a received payload: write part of it to the receive buffer, or nothing. One for each segment that
  * holds a slot; the slot is free afterwards.
  */
case class Placement(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val payload = PayloadReference(config) // `offset` already skips what is not wanted
  /** Nothing is written and no `placed` returns. */
  val discard = Bool()
  val sequence = SequenceNumber() // of the first byte; it lies at this number modulo the buffer's size
  val length = UInt(14 bits) // may be zero with `fin`
  val fin = Bool()
}

object Placement {
  /** Frees a slot that nothing is taken from. */
  def discard(config: DownbeatConfig, slot: UInt): Placement = {
    val placement = Placement(config).allowOverride()
    placement.assignFromBits(B(0, placement.getBitsWidth bits))
    placement.payload.held := True
    placement.payload.slot := slot
    placement.discard := True
    placement
  }
}

/** The flow wants to send: grant it a departure. */
case class Booking(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  /** The connection's first booking: nothing is carried over from the flow's last connection. */
  val first = Bool()
  /** False: the grant comes at once. */
  val paced = Bool()
  /** The departure is so long after that of the segment before: ns with 16 fraction bits, or if `perByte` ns with 32 for each of its
    * `previousLength` payload bytes.
    */
  val interval = UInt(56 bits)
  val perByte = Bool()
  val previousLength = UInt(14 bits)
  /** Right behind the segment before. */
  val adjacent = Bool()
  /** After a pause 2^burst segments may leave at once, as if the intervals before them had been waited for; zero: none is made up for. */
  val burst = UInt(2 bits)
}

/** The earliest instant at which the flow needs a `timer` event; `armed` false: none. */
case class Deadline(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val armed = Bool()
  val at = Instant()
}

/** RFC 9293 3.3.2; `closed` is also the state of a flow that nobody uses. */
object TcpState extends SpinalEnum {
  val closed, synSent, synReceived, established, finWait1, finWait2, closeWait, closing, lastAck, timeWait = newElement()
}

/** Why a connection ended. */
object CloseReason extends SpinalEnum {
  val none, finished, refused, reset, timedOut, aborted, outOfResources, addressInUse, memoryError, unreachable = newElement()
  /** No such policy in this build; a policy does not take that argument. */
  val unknownPolicy, policyArgument = newElement()
}

/** What the application may know of a connection; a level, not an edge: a newer one replaces an older one. */
case class FlowStatus(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val state = TcpState()
  val reason = CloseReason()
  /** The send buffer holds [acknowledged, written); it has space up to acknowledged + its size. */
  val acknowledged = SequenceNumber()
  val written = SequenceNumber()
  /** The receive buffer holds [consumed, received). */
  val consumed = SequenceNumber()
  val received = SequenceNumber()
  /** The peer sends no more; `received` is the end of its stream. */
  val peerFinished = Bool()
  /** The peer has said that its data is urgent up to `urgentEnd`, which has not been read yet: RCV.UP, perhaps beyond what has come. */
  val urgent = Bool()
  val urgentEnd = SequenceNumber()
  /** The last ICMP error about a segment in flight, and how many there were, modulo 4: nothing has ended by it (RFC 9293 3.9.1.8). */
  val error = NetworkError()
  val errors = UInt(2 bits)
  /** The oldest segment has been sent again three times (R1, RFC 9293 3.8.3), and is not acknowledged yet. */
  val struggling = Bool()
}

/** One event and what it did, for the event log and the golden models; in the order in which the engine took them. */
case class TraceRecord(config: DownbeatConfig) extends Bundle {
  val time = Instant()
  val reference = FlowReference(config)
  val kind = EventKind()
  /** The event met a connection; false: stale, nothing changed. */
  val live = Bool()
  val state = TcpState()
  val reason = CloseReason()
  /** The congestion stage's input and policies, and the windows after it. */
  val congestion = CongestionEvent()
  val startup = UInt(config.startupBits bits)
  val steady = UInt(config.steadyBits bits)
  val window = Window()
  val acknowledged = SequenceNumber() // SND.UNA
  val nextSend = SequenceNumber() // SND.NXT
  val highestSent = SequenceNumber() // SND.MAX
  val sendWindow = UInt(32 bits) // bytes, scaled
  val received = SequenceNumber() // RCV.NXT
  /** This event sent a segment with sequence numbers. */
  val sent = Bool()
  val sentSequence = SequenceNumber()
  val sentLength = UInt(14 bits)
  /** It had been sent before. */
  val retransmission = Bool()
  /** A policy has asked for a long calculation. */
  val asked = Bool()
}
