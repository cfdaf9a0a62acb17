// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import downbeat.messages.{DepartedEvent, DirectoryEvent, FlowReference, IcmpErrorKind}
import downbeat.time.Stamp
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib.bus.amba4.axi.Axi4Config

/** Settings of a port in the registers. */
case class HostSetUp() extends Bundle {
  val enable = Bool()
  val commandBase, notificationBase = UInt(64 bits)
  /** The rings have 2^size entries. */
  val commandSize, notificationSize = UInt(32 bits)
  val holdOff = UInt(32 bits) // ns
}

/** State of a port that the registers show. */
case class HostShown() extends Bundle {
  val running, refused, stopped, interrupt = Bool()
  /** Free-running: commands done, notifications in memory. */
  val commandHead, notificationTail = UInt(32 bits)
  val errors, errorsUnreported = UInt(32 bits)
}

/** A write to a port's doorbell page. */
case class Doorbell(config: DownbeatConfig) extends Bundle {
  val port = HostPorts.index(config)
  /** Any but `command`. */
  val kind = HostSource()
  /** A sequence number, or a ring's index. */
  val value = UInt(32 bits)
  /** written, consumed. */
  val flow = UInt(16 bits)
  val generation = UInt(8 bits)
  /** written: the last byte is urgent. */
  val urgent = Bool()
  val reserved = Bits(7 bits)
}

/** A command as it lies in memory. */
case class HostCommand(config: DownbeatConfig) extends Bundle {
  val port = HostPorts.index(config)
  val entry = Bits(HostFormat.commandBytes * 8 bits)
}

/** The doorbell or command that is being done. */
case class HostSubject(config: DownbeatConfig) extends Bundle {
  val port = HostPorts.index(config)
  val source = HostSource()
  val flow = UInt(16 bits)
  val generation = UInt(8 bits)
  /** A sequence number, or a ring's index. */
  val value = UInt(32 bits)
  val urgent = Bool()
  /** A data doorbell sets bits that mean nothing. */
  val reservedSet = Bool()
}

/** A response to a command, or an error. */
case class HostResponse(config: DownbeatConfig) extends Bundle {
  val port = HostPorts.index(config)
  val isError = Bool()
  /** A CloseReason, or a HostError. */
  val reason = Bits(8 bits)
  val source = HostSource()
  val request = UInt(16 bits)
  val flow = UInt(16 bits)
  val generation = UInt(8 bits)
  val value = UInt(32 bits)
}

/** A flow's connection has begun. */
case class HostOpened(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val generation = UInt(config.generationBits bits)
  val owner = UInt(config.ownerBits bits)
  /** It answers an open command; otherwise a SYN made it. */
  val active = Bool()
}

object HostOpened {
  /** The event opens its flow's connection. */
  def of(config: DownbeatConfig, event: DirectoryEvent): HostOpened = {
    val opened = HostOpened(config)
    opened.flow := event.reference.flow
    opened.generation := event.reference.generation
    opened.owner := event.parameters.owner
    opened.active := event.open
    opened
  }
}

/** The host interface's state of a flow's connection. */
case class HostRecord(config: DownbeatConfig) extends Bundle {
  val owner = UInt(config.ownerBits bits)
  val generation = UInt(config.generationBits bits)
  /** The host has closed or aborted it. */
  val closed = Bool()
  /** The host has shut it down. */
  val shutDown = Bool()
  /** The host wants the stamps of its segments. */
  val stamped = Bool()
  /** Commands that were announced before its last doorbell. */
  val after = UInt(32 bits)
  /** One past the last urgent byte that was rung for; the engine may have received it. */
  val urgent = Bool()
  val urgentEnd = UInt(32 bits)
}

/** The stamp of a connection's segment. */
case class SegmentStamp(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  /** One past its last sequence number. */
  val end = SequenceNumber()
  val sfd = Stamp()
}

object SegmentStamp {
  def departed(config: DownbeatConfig, event: DepartedEvent): SegmentStamp = {
    val stamp = SegmentStamp(config)
    stamp.reference := event.reference
    stamp.end := event.end
    stamp.sfd := event.stamp
    stamp
  }

  /** It is a segment of the peer, behind its SYN. */
  def isReceived(event: DirectoryEvent): Bool =
    !event.open && !event.fresh && event.icmpError === IcmpErrorKind.none && !event.flags.syn

  def received(config: DownbeatConfig, event: DirectoryEvent): SegmentStamp = {
    val stamp = SegmentStamp(config)
    stamp.reference := event.reference
    stamp.end := event.sequence + (event.length.resize(32) + event.flags.fin.asUInt)
    stamp.sfd := event.stamp
    stamp
  }
}

/** A stamp for the program of a port. */
case class HostStamp(config: DownbeatConfig) extends Bundle {
  val port = HostPorts.index(config)
  /** The segment is the peer's. */
  val received = Bool()
  val segment = SegmentStamp(config)
}

/** Bounds of a flow's doorbells, from its newest status. */
case class HostLimits(config: DownbeatConfig) extends Bundle {
  /** The connection was announced. */
  val heard = Bool()
  val generation = UInt(config.generationBits bits)
  /** The peer's first sequence number is known. */
  val synchronized = Bool()
  val ended = Bool()
  val acknowledged, received = UInt(32 bits)
}

object HostPorts {
  def index(config: DownbeatConfig): UInt = UInt(log2Up(config.hostPorts) max 1 bits)

  /** For the rings. */
  val axi: Axi4Config = Axi4Config(
    addressWidth = 64, dataWidth = 64, idWidth = 1,
    useRegion = false, useLock = false, useCache = false, useQos = false, useProt = false)

  /** Responses and errors of a port that wait for space in its ring, with those that commands on their way may cause.
    */
  val responses = 16
}
