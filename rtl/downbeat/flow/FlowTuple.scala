// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import spinal.core._

/** What tells connections apart. The fourth part, our own address, is the same for all of them. */
case class FlowTuple() extends Bundle {
  val remoteIp = UInt(32 bits)
  val remotePort = UInt(16 bits)
  val localPort = UInt(16 bits)
}

/** Why a 4-tuple is looked up. */
object LookupKind extends SpinalEnum {
  /** It arrived in a segment. */
  val segment = newElement()
  /** It is wanted for a connection that the application opens. */
  val open = newElement()
  /** Its connection is over. */
  val release = newElement()
}

case class LookupRequest() extends Bundle {
  val kind = LookupKind()
  val tuple = FlowTuple()
}

/** What a 4-tuple hashes to. Three parts of the state that do not follow from each other without the secret. */
case class TupleHash() extends Bundle {
  /** HalfSipHash-1-3 proper, 32 bits: for what a peer may see (initial sequence numbers, ephemeral ports). */
  val visible = UInt(32 bits)
  /** Never leave the core: they choose the buckets. */
  val first, second = UInt(32 bits)
}
