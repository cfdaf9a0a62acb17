// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.measure

import downbeat.config.DownbeatConfig
import downbeat.wire.SequenceNumber
import spinal.core._

/** How the ACK of a probe looks. */
object ProbeRole extends SpinalEnum {
  /** The ACK advances to the probe's end. */
  val inOrder = newElement()
  /** First half of an inverted pair: the ACK repeats the number at which the pair begins. */
  val ahead = newElement()
  /** Second half: the ACK advances to the end of the first half. */
  val behind = newElement()
}

/** A probe in flight. */
case class ProbeRecord() extends Bundle {
  /** One past the probe's last byte. */
  val end = SequenceNumber()
  val role = ProbeRole()
  /** The probe begins a train. */
  val begins = Bool()
  /** The SFD has been seen at the wire, later than it should have been, at `time` (ns). */
  val departed, late = Bool()
  val time = UInt(36 bits)
}

/** The places of a flow's probes in the log, and the measurement of the last acknowledged probe. */
case class ProbeLogState(config: DownbeatConfig) extends Bundle {
  /** The next probe to be sent, to depart, to be acknowledged; modulo twice the places. */
  val sent, departing, acknowledging = UInt(log2Up(ProbeLog.places(config)) + 1 bits)
  /** The last data acknowledged was a probe with an ACK of its own: the next probe's gaps count from it. */
  val chained = Bool()
  val departure, arrival = UInt(36 bits) // ns
}
