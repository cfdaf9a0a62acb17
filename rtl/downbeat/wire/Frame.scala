// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.wire

import downbeat.time.Stamp
import spinal.core._

/** One beat of an Ethernet frame without preamble and FCS. Byte 0 of the wire is `data(7 downto 0)`; `keep` is
  * contiguous from bit 0 and all ones except in the last beat.
  *
  * @param bytes    of a whole beat
  * @param vlanBits width of `vlan`, for a frame whose tag is not in its bytes; 0: it has none
  */
case class FrameBeat(vlanBits: Int = 0, bytes: Int = 8) extends Bundle {
  val data = Bits(8 * bytes bits)
  val keep = Bits(bytes bits)
  val last = Bool()
  /** The same in all beats of a frame: its VLAN ([[downbeat.messages.Vlan]]). */
  val vlan = UInt(vlanBits bits)

  /** All but `vlan`. */
  def takesBytes(other: FrameBeat): Unit = {
    data := other.data
    keep := other.keep
    last := other.last
  }
}

/** A beat as the MAC hands it in. */
case class ReceivedBeat(bytes: Int = 8) extends Bundle {
  val frame = FrameBeat(bytes = bytes)
  /** SFD of the frame on the wire; read with the first beat. */
  val stamp = Stamp()
  /** The frame is damaged (bad FCS, receive error); read with the last beat. */
  val error = Bool()
}

/** How a frame leaves: at an instant (never before it), as soon as possible, or right behind the frame before it. */
object LaunchMode extends SpinalEnum {
  val at, asap, afterPrevious = newElement()
}

/** A beat as the MAC takes it; all but `frame` are the same in all beats of a frame. */
case class TransmitBeat(vlanBits: Int = 0, bytes: Int = 8) extends Bundle {
  val frame = FrameBeat(vlanBits, bytes)
  val mode = LaunchMode()
  val launch = Stamp()
  /** Comes back with the departure stamp; zero: no stamp is wanted. */
  val tag = UInt(16 bits)
  /** Index of the frame's last byte, padding included; zero: known at its end only. A frame with it has a beat every
    * clock in which the MAC takes one.
    */
  val lastByte = UInt(14 bits)
}

/** The stamp of a tagged frame's SFD, on its way back from the MAC. */
case class DepartureStamp() extends Bundle {
  val tag = UInt(16 bits)
  val stamp = Stamp()
}
