// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.flow.DirectoryDrops
import downbeat.memory.MemoryErrors
import downbeat.neighbour.NeighbourDrops
import downbeat.rx.ReceiveDrops
import spinal.core._

/** What the core dropped or cut, by cause: 32 bits each, since reset. */
case class Counters() extends Bundle {
  val receive = ReceiveDrops.counters
  val directory = DirectoryDrops()
  val neighbour = NeighbourDrops.counters
  /** ICMP errors that changed nothing. */
  val ignoredReports = UInt(32 bits)
  /** Challenge ACKs that a connection's limit held back (RFC 5961 7). */
  val suppressedChallenges = UInt(32 bits)
  /** ACKs that say that data came twice (RFC 2883). */
  val duplicateSacks = UInt(32 bits)
  /** Departure stamps that belonged to no frame on its way. */
  val staleStamps = UInt(32 bits)
  /** Writes that did not fit into the send buffer; receive commands for more than there was. */
  val sendOverruns, receiveUnderruns = UInt(32 bits)
  val unknownCommands = UInt(32 bits)
  /** What the payload memory refused. */
  val memory = MemoryErrors()
}
