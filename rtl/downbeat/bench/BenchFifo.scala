// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.wire.FrameBeat
import spinal.core._
import spinal.lib._

/** A frame beat with one extra that is read at the first beat and one that is read at the last. */
case class BenchBeat() extends Bundle {
  val frame = FrameBeat()
  val tag = UInt(8 bits)
  val error = Bool()
}

/** Test-only module: the queue between the cocotb bench's own drivers and monitors, with a switch for each way in
  * which a broken module damages a stream, so that the bench's checks are themselves checked.
  */
class BenchFifo extends Component {
  val source = slave(Stream(BenchBeat()))
  val sink = master(Stream(BenchBeat()))
  val dropBeat = in(Bool()) // swallows the beat that would enter
  val flipBit = in(Bool()) // changes one bit of the beat that leaves, even while it waits
  val withdraw = in(Bool()) // takes back the beat that is offered
  val freeze = in(Bool()) // never ready: what a hang looks like from outside
  val occupancy = out(UInt(5 bits)) // beats

  private val fifo = StreamFifo(BenchBeat(), 16)
  fifo.io.push << source.throwWhen(dropBeat).haltWhen(freeze)
  sink << fifo.io.pop.haltWhen(withdraw)
  sink.payload.frame.data.removeAssignments()
  sink.payload.frame.data := fifo.io.pop.payload.frame.data ^ flipBit.asBits.resized
  occupancy := fifo.io.occupancy
}
