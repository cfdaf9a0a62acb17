// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** A neighbour has given its MAC address, or the host has; it may be another one than before. */
case class NextHopMove(vlanBits: Int) extends Bundle {
  val ip = UInt(32 bits)
  val vlan = UInt(vlanBits bits)
  val mac = Bits(48 bits) // first byte of the wire in bits 47 to 40
}
