// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.pipeline

import downbeat.config.DownbeatConfig
import downbeat.congestion.{Calculated, InlineResult, RateWindows}
import downbeat.messages.{ConnectionParameters, EventKind, FlowReference, PayloadReference, TcpOptions, WindowField}
import downbeat.time.Stamp
import downbeat.wire.{LaunchMode, SequenceNumber, TcpFlags}
import spinal.core._

/** From the engine's own end: `sent`, or `failed` when nothing was. */
case class ReturnEvent(config: DownbeatConfig) extends Bundle {
  val failed = Bool()
  val reference = FlowReference(config)
  val sequence = SequenceNumber()
  val length = UInt(14 bits) // payload bytes
  val syn, fin = Bool()
  /** A `sent`'s acknowledgment number, as on the wire. */
  val acknowledgment = SequenceNumber()
  val window = UInt(16 bits)
  /** The ACK of this segment is reported (congestion/DeparturePlan.scala); the segment begins a train of such. */
  val probe, begins = Bool()
  /** One half of an inverted pair had gone, the other was still to go. */
  val halfWay = Bool()
  /** With `failed`: a word of the connection has two flips. */
  val memoryError = config.ecc generate Bool()
}

/** Any event, as the arbiter takes it. Fields that a kind does not name are ignored. */
case class EngineEvent(config: DownbeatConfig) extends Bundle {
  val kind = EventKind()
  val reference = FlowReference(config)
  val fresh, cookie = Bool()
  val sequence = SequenceNumber()
  val acknowledgment = SequenceNumber()
  val flags = TcpFlags()
  val window = WindowField()
  val urgentPointer = UInt(16 bits)
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
  val probe, begins, halfWay, late = Bool()
  val calculated = config.policiesCalculate generate Calculated()
  val rates = config.policiesEstimate generate RateWindows()
  val inline = config.policiesMeasure generate InlineResult()
}
