// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** Frames and data that the core dropped or cut, by cause: since reset, modulo 2^bits.
  *
  * @param hasVlans the build knows VLANs
  * @param hasEcc   memories of flows' state have check bits
  */
case class Counters(bits: Int, hasVlans: Boolean, hasEcc: Boolean) extends Bundle {
  val receive = ReceiveDrops.counters(bits)
  val directory = DirectoryDrops(bits)
  val neighbour = NeighbourDrops.counters(bits)
  /** ICMP errors that changed nothing. */
  val ignoredIcmpErrors = UInt(bits bits)
  /** Challenge ACKs that a connection's limit held back (RFC 5961 7). */
  val suppressedChallenges = UInt(bits bits)
  /** ACKs that say that data came twice (RFC 2883). */
  val duplicateSacks = UInt(bits bits)
  /** Departure stamps that belonged to no frame on its way. */
  val staleStamps = UInt(bits bits)
  /** Writes that did not fit into the send buffer; receive commands for more than there was. */
  val sendOverruns, receiveUnderruns = UInt(bits bits)
  val unknownCommands = UInt(bits bits)
  /** Data that the payload memory refused. */
  val memory = MemoryErrors(bits)
  /** Closed connections that were given up without progress. */
  val stalledCloses = UInt(bits bits)
  /** Frames to our MAC that took the bypass, because their VLAN is not ours or they have two tags. */
  val otherVlan = hasVlans generate UInt(bits bits)
  /** Clocks in which a flipped bit of a flow's state was corrected; in which two flips of a word were found, or have ended
    * a connection.
    */
  val correctedFlips, uncorrectableFlips = hasEcc generate UInt(bits bits)
  /** Tail loss probes (RFC 8985 7); reductions of a window that were spurious and taken back (RFC 4015). */
  val tailLossProbes, undoneReductions = UInt(bits bits)
}
