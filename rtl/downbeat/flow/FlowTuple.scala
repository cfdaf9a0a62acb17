// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import spinal.core._

/** The 4-tuple of a connection, without our own address, which is the same for all; and the VLAN: the peers of two
  * VLANs may have the same addresses.
  */
case class FlowTuple(vlanBits: Int) extends Bundle {
  val remoteIp = UInt(32 bits)
  val remotePort = UInt(16 bits)
  val localPort = UInt(16 bits)
  val vlan = UInt(vlanBits bits)
}

/** Why a 4-tuple is looked up. */
object LookupKind extends SpinalEnum {
  /** It arrived in a segment. */
  val segment = newElement()
  /** It is wanted for a connection that the application opens. */
  val open = newElement()
  /** Its connection is over, or moves to the TIME-WAIT table. */
  val release = newElement()
  /** It leaves the TIME-WAIT table. */
  val expiry = newElement()
}

case class LookupRequest(vlanBits: Int) extends Bundle {
  val kind = LookupKind()
  val tuple = FlowTuple(vlanBits)
}

/** The hash of a 4-tuple, which chooses its buckets. It never leaves the core. */
case class TupleHash() extends Bundle {
  val first, second = UInt(32 bits)
}
