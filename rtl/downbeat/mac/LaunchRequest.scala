// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.time.Stamp
import spinal.core._

/** A frame that waits at the gate, in a queue of its kind: it is whole, or its length is known. */
case class LaunchRequest() extends Bundle {
  val length = UInt(14 bits) // bytes without FCS
  val tag = UInt(16 bits)
  val afterPrevious = Bool()
  val launch = Stamp()
  /** The time from its SFD to the last slot before the next SFD may be, 22.32 ns. */
  val duration = UInt(54 bits)

  def words: UInt = LaunchRequest.words(length)
  /** From its SFD to the next, in byte times. */
  def byteTimes: UInt = LaunchRequest.padded(length) + U(Ethernet.overheadBytes)
}

object LaunchRequest {
  def words(length: UInt): UInt = ((length + 7) >> 3).resize(11)
  def padded(length: UInt): UInt = (length < Ethernet.minimumBytes) ? U(Ethernet.minimumBytes, 14 bits) | length
}
