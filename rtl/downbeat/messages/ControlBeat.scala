// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.wire.FrameBeat
import spinal.core._

/** A beat of an ARP or ICMP frame that the filter has found to be for us; nothing else of it has been judged. */
case class ControlBeat() extends Bundle {
  val frame = FrameBeat()
  /** The same in all beats of a frame: ARP; otherwise ICMP in IPv4 without options. */
  val isArp = Bool()
}
