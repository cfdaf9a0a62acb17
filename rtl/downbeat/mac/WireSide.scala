// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.wire.DepartureStamp
import spinal.core._
import spinal.lib._

/** A receiver as the MAC sees it, whichever wire it reads. */
trait WireReceiver {
  def linkUp: Bool
  def startOfFrame: Bool
  def word: Flow[Bits]
  /** With a frame's third word: it is for the MAC alone, or came while the link was down. */
  def stays: Bool
  def end: Flow[ReceivedEnd]
}

/** A transmitter as the MAC sees it, whichever wire it drives. */
trait WireTransmitter {
  def start: Flow[LaunchStart]
  def fetch: Bool
  def word: Bits
  def time: UInt
  def departure: Flow[DepartureStamp]
}
