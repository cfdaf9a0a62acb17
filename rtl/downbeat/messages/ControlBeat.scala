// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.wire.FrameBeat
import spinal.core._

/** A beat of an ARP or ICMP frame that is addressed to us. Nothing else of the frame has been checked. */
case class ControlBeat(vlanBits: Int, bytes: Int = 8) extends Bundle {
  val frame = FrameBeat(vlanBits, bytes)
  /** The same in all beats of a frame: ARP; otherwise ICMP in IPv4 without options. */
  val isArp = Bool()
}
