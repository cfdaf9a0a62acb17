// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.DownbeatConfig
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** Block RAM as an AXI4 slave whose read and write channels each move a beat every clock. Responses keep the order of the
  * commands; a write is in the memory when its response is offered. The first beat of a read comes three clocks after its
  * command. Contents are undefined until written.
  */
case class BlockMemory(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val axi = slave(Axi4(config.memory))
  }
  noIoPrefix()
  Axi4SpecRenamer(io.axi)

  private val lanes = Seq.fill(config.beatBytes)(MemoryLane((config.memoryBytes / config.beatBytes).toInt))

  private val read = new Area {
    private val asked = io.axi.ar.unburstify
    private val addressed = asked.m2sPipe(holdPayload = true)
    private val fetched = addressed.m2sPipe(holdPayload = true)
    private val answer = fetched.m2sPipe(holdPayload = true)
    for (lane <- lanes) {
      lane.io.read.address := asked.addr(config.memory.wordRange)
      lane.io.read.ask := asked.fire
      lane.io.read.fetch := addressed.fire
      lane.io.read.answer := fetched.fire
    }
    io.axi.r << answer.map { beat =>
      val response = Axi4R(config.memory)
      response.data := Cat(lanes.map(_.io.read.data))
      response.id := beat.id
      response.last := beat.last
      response.setOKAY()
      response
    }
  }

  private val write = new Area {
    private val placed = StreamJoin(io.axi.aw.unburstify, io.axi.w)
    for ((lane, index) <- lanes.zipWithIndex) {
      lane.io.write.valid := placed.fire && io.axi.w.strb(index)
      lane.io.write.address := placed._1.addr(config.memory.wordRange)
      lane.io.write.data := placed._2.data.subdivideIn(8 bits)(index)
    }
    io.axi.b << placed.takeWhen(placed._1.last).map { beat =>
      val response = Axi4B(config.memory)
      response.id := beat._1.id
      response.setOKAY()
      response
    }.m2sPipe()
  }
}
