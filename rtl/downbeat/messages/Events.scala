// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.time.Stamp
import downbeat.wire.{LaunchMode, SequenceNumber}
import spinal.core._

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
