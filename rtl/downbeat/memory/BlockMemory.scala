// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** Block RAM as an AXI4 slave whose read and write channels each move a beat every clock. Responses keep the order of
  * the commands; a write is in the memory when its response is offered. The first beat of a read comes four clocks
  * after its command. Contents are undefined until written.
  */
case class BlockMemory(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val axi = slave(Axi4(config.memory))
  }
  noIoPrefix()
  Axi4SpecRenamer(io.axi)
  require(config.memoryBytes <= BlockMemory.maxBytes,
    s"payload memory of ${config.memoryBytes >> 20} MiB is no block RAM: set externalMemory, or use fewer flows or smaller buffers")

  private val lanes = Seq.fill(config.beatBytes)(MemoryLane((config.memoryBytes / config.beatBytes).toInt))

  private val read = new Area {
    // A read once begun does not stall, so that no ready fans out to every block RAM: its response has a place from the
    // start.
    private val places = 8
    private val free = Reg(UInt(log2Up(places + 1) bits)) init places
    private val beat = io.axi.ar.unburstify.continueWhen(free =/= 0).toFlow
    free := (free + io.axi.r.fire.asUInt) - beat.valid.asUInt
    for (lane <- lanes) {
      lane.io.read.valid := beat.valid
      lane.io.read.payload := beat.addr(config.memory.wordRange)
    }

    private val readResponse = Flow(Axi4R(config.memory))
    private val arrived = (1 to MemoryLane.readClocks).foldLeft(beat)((flow, _) => flow.m2sPipe(holdPayload = true))
    readResponse.valid := arrived.valid
    readResponse.data := Cat(lanes.map(_.io.data))
    readResponse.id := arrived.id
    readResponse.last := arrived.last
    readResponse.setOKAY()
    io.axi.r << readResponse.toStream.queue(places, latency = 1)
  }

  private val write = new Area {
    private val placed = StreamJoin(io.axi.aw.unburstify, io.axi.w)
    // A register between the handshake and the enables of all lanes, so the response waits a clock longer too.
    private val entry = placed.toFlowFire.m2sPipe(holdPayload = true)
    for ((lane, index) <- lanes.zipWithIndex) {
      lane.io.write.valid := entry.valid && entry._2.strb(index)
      lane.io.write.address := entry._1.addr(config.memory.wordRange)
      lane.io.write.data := entry._2.data.subdivideIn(8 bits)(index)
    }
    io.axi.b << placed.takeWhen(placed._1.last).map { beat =>
      val response = Axi4B(config.memory)
      response.id := beat._1.id
      response.setOKAY()
      response
    }.m2sPipe(holdPayload = true).m2sPipe(holdPayload = true)
  }
}

object BlockMemory {
  /** More than any FPGA has; a simulator's memory holds it. */
  val maxBytes: Long = 1L << 30
}
