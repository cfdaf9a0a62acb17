// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.time.Stamp
import downbeat.wire.{LaunchMode, SequenceNumber}
import spinal.core._

/** Received payload is in memory: from the placement writer. With no bytes: the memory refused a fetch. */
case class PlacedEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val sequence = SequenceNumber() // the first byte's
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

/** The times that an application may change: as in [[ConnectionParameters]]. */
case class ConnectionTimes() extends Bundle {
  val keepAlive, userTimeout = UInt(16 bits)
}

object ConnectionTimes {
  /** The view of an event's `length`. */
  def of(length: UInt): ConnectionTimes = length.asBits.as(ConnectionTimes())

  def apply(parameters: ConnectionParameters): UInt = (parameters.userTimeout ## parameters.keepAlive).asUInt
}

/** An application's event for a flow. It has no generation: the flow belongs to the application until it closes the
  * connection.
  */
case class ApplicationEvent(config: DownbeatConfig) extends Bundle {
  /** One of written, consumed, shutdown, close, abort, setTimes. */
  val kind = EventKind()
  val flow = UInt(config.flowBits bits)
  /** Bytes; setTimes: a `ConnectionTimes`. */
  val length = UInt(32 bits)
  /** written, consumed: the memory refused bytes of it. */
  val memoryError = Bool()
  /** written: the last byte ends urgent data. */
  val urgent = Bool()
}

/** New policies for a flow. They have been checked: the build has them, and they take these arguments. */
case class PolicyChange(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val startup = UInt(config.startup.bits bits)
  val steady = UInt(config.steady.bits bits)
  val startupArgument = Bits(config.startupArgumentBits bits)
  val steadyArgument = Bits(config.steadyArgumentBits bits)
  /** The connection restarts with them, and with what the host knows of the path. */
  val begins = config.hostStart generate Bool()
  val ssthresh = config.hostStart generate UInt(32 bits) // bytes
  val start = config.hostStart generate HostStart()
  val owner = (config.hostStart && config.hostPorts > 0) generate UInt(config.ownerBits bits)
}

/** The engine answers a `start`. */
case class StartResult(config: DownbeatConfig) extends Bundle {
  /** Otherwise something was in flight, or there is no established connection: nothing has changed. */
  val accepted = Bool()
  /** Owner of the command. */
  val owner = (config.hostPorts > 0) generate UInt(config.ownerBits bits)

  def isFor(hosts: Boolean): Bool = if (config.hostPorts == 0) Bool(!hosts) else (owner =/= 0) === Bool(hosts)
}

/** From the pacer: a segment may go, and how its frame leaves the MAC. */
case class GrantEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val mode = LaunchMode()
  /** Read with `at`. */
  val launch = Stamp()
}

/** The departure stamp of a segment. */
case class DepartedEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  /** One past the last sequence number of the segment. */
  val end = SequenceNumber()
  val stamp = Stamp()
  /** It had a launch time and left more than a byte time of 1 Gb/s after it. */
  val late = Bool()
}

/** The flow's deadline has passed: from the timers. */
case class TimerEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
}
