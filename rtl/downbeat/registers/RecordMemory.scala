// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.registers

import spinal.core._
import spinal.lib._

/** A word of a memory of records. */
case class RecordWrite[T <: Data](recordType: HardType[T], words: Int) extends Bundle {
  val address = UInt(log2Up(words) bits)
  val record = recordType()
}

/** A block RAM that events write and the host reads now and then. A read of a word that is being written waits. Writes
  * of one word must leave clocks free.
  */
case class RecordMemory[T <: Data](recordType: HardType[T], words: Int) extends Component {
  val io = new Bundle {
    val write = slave(Flow(RecordWrite(recordType, words)))
    /** Not while `busy`. */
    val read = slave(Flow(UInt(log2Up(words) bits)))
    val response = master(Flow(recordType()))
    val busy = out(Bool())
  }
  noIoPrefix()

  private val memory = Mem(recordType(), words)
  memory.addAttribute("no_rw_check")
  memory.write(io.write.address, io.write.record, io.write.valid)

  private val reading = RegInit(False)
  private val address = RegNextWhen(io.read.payload, io.read.valid)
  private val reads = reading && !(io.write.valid && io.write.address === address)
  when(reads)(reading := False)
  when(io.read.valid)(reading := True)

  private val word = memory.readSync(address, enable = reads)
  private val arrived = RegNext(reads) init False
  io.response.valid := RegNext(arrived) init False
  io.response.payload := RegNextWhen(word, arrived)
  io.busy := reading || arrived || io.response.valid
}
