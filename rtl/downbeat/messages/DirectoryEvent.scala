// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.time.Stamp
import downbeat.wire.{SequenceNumber, TcpFlags}
import spinal.core._

/** A segment for a flow, an ICMP error about one of its segments, or an open: from the flow directory. */
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
  /** Read when `open` or `fresh`: the initial send sequence number, and what our timestamps are ahead of the clock. */
  val initialSequence = SequenceNumber()
  val timestampOffset = UInt(32 bits)

  /** The SYN's values that are known when its ACK has brought the cookie back. */
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
