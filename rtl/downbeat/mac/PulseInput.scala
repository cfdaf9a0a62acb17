// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** Stamps the rising edges of an asynchronous pin, in the transmit wire domain. */
case class PulseInput() extends Component {
  val io = new Bundle {
    /** High and low for two clocks at least. */
    val pin = in Bool ()
    /** Own time when an edge came that is now on its way behind the synchroniser: 2.5 clocks ago. */
    val instant = in(Stamp())
    val event = master Flow (TimeEvent())
  }
  noIoPrefix()

  // A pin that is high from the start on has no edge.
  private val high = BufferCC(io.pin, True, bufferDepth = Some(3))
  private val rises = RegNext(high && !(RegNext(high) init True)) init False
  private val sequence = Reg(UInt(16 bits)) init 0
  when(rises)(sequence := sequence + 1)

  io.event.valid := rises
  io.event.external := False
  io.event.sequence := sequence
  io.event.stamp := io.instant
  io.event.reference := Stamp.zero
}
