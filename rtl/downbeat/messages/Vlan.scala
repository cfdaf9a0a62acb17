// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** A VLAN that the core belongs to (802.1Q 9.6): a run-time value, not a build constant. Elsewhere `vlan` is a number:
  * 0 is the untagged network, n the n-th of these.
  */
case class Vlan() extends Bundle {
  /** VID; zero: none. */
  val identifier = UInt(12 bits)
  /** PCP of the frames that we send (802.1Q 6.9: the sender chooses it; no frame inherits it from one received). */
  val priority = UInt(3 bits)

  def isUsed: Bool = identifier =/= 0
  /** The tag's TCI as on the wire; nothing of ours is drop eligible. */
  def tagControl: Bits = priority ## False ## identifier
}

object Vlan {
  val portBits = 16

  /** The table from 16 bits each, the first one lowest, as `tagControl` has them. */
  def fromPort(port: Bits): Vec[Vlan] = Vec(port.subdivideIn(portBits bits).map { bits =>
    val vlan = Vlan()
    vlan.identifier := bits(11 downto 0).asUInt
    vlan.priority := bits(15 downto 13).asUInt
    vlan
  })
}
