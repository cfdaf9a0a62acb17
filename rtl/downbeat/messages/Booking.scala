// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import spinal.core._

/** The engine books a departure for the flow's next segment; the pacer responds with a grant. */
case class Booking(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  /** The connection's first booking: nothing is carried over from the flow's last connection. */
  val first = Bool()
  /** False: the grant comes at once. */
  val paced = Bool()
  /** The departure is so long after that of the segment before: ns with 16 fraction bits, or if `perByte` ns with 32
    * for each of its `previousLength` payload bytes.
    */
  val interval = UInt(56 bits)
  val perByte = Bool()
  val previousLength = UInt(14 bits)
  /** Right behind the segment before. */
  val adjacent = Bool()
  /** After a pause 2^burst segments may leave at once, as if the intervals before them had been waited for; zero: none
    * is made up for.
    */
  val burst = UInt(2 bits)
}
