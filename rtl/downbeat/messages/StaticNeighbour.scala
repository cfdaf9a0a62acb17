// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** Writes or removes a static neighbour. */
case class StaticNeighbour(vlanBits: Int) extends Bundle {
  val ip = UInt(32 bits)
  val mac = Bits(48 bits)
  val remove = Bool()
  val vlan = UInt(vlanBits bits)
}
