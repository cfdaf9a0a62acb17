// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import spinal.core._
import spinal.lib._

/** A frame beat as every frame stream of the core carries it, plus one extra field given at the first beat. */
case class BenchBeat() extends Bundle {
  val data = Bits(64 bits) // byte 0 of the frame is data(7 downto 0)
  val keep = Bits(8 bits)
  val last = Bool()
  val tag = UInt(8 bits)
}

/** Test-only room: the queue between the cocotb bench's own drivers and monitors, with a switch for each way in
  * which a broken room damages a stream, so that the bench's checks are themselves checked.
  */
class BenchFifo extends Component {
  val source = slave(Stream(BenchBeat()))
  val sink = master(Stream(BenchBeat()))
  val dropBeat = in(Bool()) // swallows the beat that would enter
  val flipBit = in(Bool()) // changes one bit of the beat that enters
  val freeze = in(Bool()) // never ready: what a hang looks like from outside
  val occupancy = out(UInt(5 bits)) // beats

  private val damaged = source.translateWith {
    val beat = cloneOf(source.payload)
    beat := source.payload
    beat.data.removeAssignments()
    beat.data := source.payload.data ^ flipBit.asBits(64 bits)
    beat
  }
  private val fifo = StreamFifo(BenchBeat(), 16)
  fifo.io.push << damaged.throwWhen(dropBeat).haltWhen(freeze)
  sink << fifo.io.pop
  occupancy := fifo.io.occupancy
}
