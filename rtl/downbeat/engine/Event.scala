// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.DownbeatConfig
import downbeat.congestion.Calculated
import downbeat.flow.{ConnectionParameters, FlowReference}
import downbeat.rx.{PayloadReference, IcmpErrorKind}
import downbeat.time.Stamp
import downbeat.wire.{LaunchMode, SequenceNumber, TcpFlags, TcpOptions}
import spinal.core._

/** The only things that change a connection. */
object EventKind extends SpinalEnum {
  /** A segment arrived (`fresh`: the SYN that makes a connection). */
  val segment = newElement()
  /** Payload, and perhaps a FIN, is in memory: `length` bytes from `sequence` on. */
  val placed = newElement()
  /** The application opens a connection. */
  val open = newElement()
  /** `length` more bytes are in the send buffer; with URG in `flags`, urgent ones. */
  val written = newElement()
  /** The application has read `length` bytes. */
  val consumed = newElement()
  /** The application will send no more; what is written still goes, then FIN. */
  val shutdown = newElement()
  /** The application has forgotten the connection: shutdown, and nothing will be read. */
  val close = newElement()
  /** The application has forgotten the connection, and the peer gets a RST. */
  val abort = newElement()
  /** The application chooses other policies, or tells them something else; the windows stay. */
  val setPolicies = newElement()
  /** The pacer: a segment may go at `stamp`. */
  val grant = newElement()
  /** A descriptor left the engine: `sequence`, `length`, FIN and SYN in `flags`, and the `acknowledgment` and `window` that it bears. */
  val sent = newElement()
  /** The SFD of a data segment that ends before `sequence` left at `stamp`. */
  val departed = newElement()
  /** A deadline has passed. */
  val timer = newElement()
  /** Recovery has given the connection up. */
  val failed = newElement()
  /** The network: the segment at `sequence` did not arrive; `window` says why (NetworkError). */
  val unreachable = newElement()
  /** The network: the segment at `sequence` is too long for the path; `window` payload bytes are not. */
  val tooBig = newElement()
  /** A long calculation has its answer. */
  val calculated = newElement()
}

/** A segment for a flow, or the opening of one: from the flow directory. */
case class DirectoryEvent(config: DownbeatConfig) extends Bundle {
  /** `open` by the application; otherwise a segment. */
  val open = Bool()
  /** This SYN has just made the connection. */
  val fresh = Bool()
  /** With `fresh`: the SYN was answered with a cookie when it came, and what follows is the ACK of that. */
  val cookie = Bool()
  /** Not of the peer, unless `open`: of the network, about a segment of ours. */
  val icmpError = IcmpErrorKind()
  val reference = FlowReference(config)
  val sequence = SequenceNumber()
  val acknowledgment = SequenceNumber()
  val flags = TcpFlags()
  val window, urgentPointer = UInt(16 bits)
  val options = TcpOptions(config)
  val length = UInt(14 bits)
  val payload = PayloadReference(config)
  val congestionExperienced = Bool()
  val stamp = Stamp()
  /** Read when `open` or `fresh`. */
  val parameters = ConnectionParameters(config)
  /** Read when `open` or `fresh`: the initial send sequence number, and what our timestamps are ahead of the clock. In a SYN of a
    * connection: the number that the 4-tuple's next one would have now.
    */
  val initialSequence = SequenceNumber()
  val timestampOffset = UInt(32 bits)

  /** What is left of a SYN when its ACK has brought the cookie back. */
  def becomesSyn(number: UInt, mss: UInt): Unit = {
    sequence := SequenceNumber(number)
    flags.assignFromBits(B(0, widthOf(flags) bits))
    flags.syn.allowOverride() := True
    options.assignFromBits(B(0, widthOf(options) bits))
    options.mssValid.allowOverride() := True
    options.mss.allowOverride() := mss
    length := 0
    payload.held := False
  }
}

/** From the placement writer; and, with no bytes, from a fetch that the memory refused. */
case class PlacedEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val sequence = SequenceNumber() // of the first byte
  val length = UInt(14 bits)
  val fin = Bool()
  /** The bytes are not in memory, or did not come out of it. */
  val memoryError = Bool()
}

object PlacedEvent {
  def ofFailedFetch(config: DownbeatConfig, reference: FlowReference): PlacedEvent = {
    val event = PlacedEvent(config)
    event.reference := reference
    event.sequence.value := 0
    event.length := 0
    event.fin := False
    event.memoryError := True
    event
  }
}

/** What an application says of a flow. It names the flow alone: until it closes it, the flow is its own. */
case class ApplicationEvent(config: DownbeatConfig) extends Bundle {
  /** One of written, consumed, shutdown, close, abort. */
  val kind = EventKind()
  val flow = UInt(config.flowBits bits)
  val length = UInt(32 bits)
  /** written, consumed: the memory refused bytes of it. */
  val memoryError = Bool()
  /** written: the last byte ends urgent data. */
  val urgent = Bool()
}

/** Other policies for a flow, legal ones. */
case class PolicyChange(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val startup = UInt(config.startupBits bits)
  val steady = UInt(config.steadyBits bits)
  val startupArgument = Bits(config.startupArgumentBits bits)
  val steadyArgument = Bits(config.steadyArgumentBits bits)
}

/** From the pacer: a segment may go, and how its frame leaves the MAC. */
case class GrantEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val mode = LaunchMode()
  /** Read with `at`. */
  val launch = Stamp()
}

/** From the engine's own end: `sent`, or `failed` when nothing was. */
case class ReturnEvent(config: DownbeatConfig) extends Bundle {
  val failed = Bool()
  val reference = FlowReference(config)
  val sequence = SequenceNumber()
  val length = UInt(14 bits) // payload bytes
  val syn, fin = Bool()
  /** What it told the peer, as on the wire. */
  val acknowledgment = SequenceNumber()
  val window = UInt(16 bits)
  /** The ACK of this segment is to be told (congestion/Departure.scala); it begins a train of such. */
  val probe, begins = Bool()
}

/** A departure stamp with what it belongs to. */
case class DepartedEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  /** One past the last sequence number of the segment. */
  val end = SequenceNumber()
  val stamp = Stamp()
  /** It had a launch time and left more than a byte time of 1 Gb/s after it. */
  val late = Bool()
}

/** From the timers. */
case class TimerEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
}

/** Any event, in the engine's line. What a kind does not name is ignored. */
case class EngineEvent(config: DownbeatConfig) extends Bundle {
  val kind = EventKind()
  val reference = FlowReference(config)
  val fresh, cookie = Bool()
  val sequence = SequenceNumber()
  val acknowledgment = SequenceNumber()
  val flags = TcpFlags()
  val window, urgentPointer = UInt(16 bits)
  val options = TcpOptions(config)
  val length = UInt(32 bits)
  val payload = PayloadReference(config)
  val congestionExperienced = Bool()
  val stamp = Stamp()
  val parameters = ConnectionParameters(config)
  val initialSequence = SequenceNumber()
  val timestampOffset = UInt(32 bits)
  val memoryError = Bool()
  val mode = LaunchMode()
  val probe, begins, late = Bool()
  val calculated = config.policiesCalculate generate Calculated()
}
