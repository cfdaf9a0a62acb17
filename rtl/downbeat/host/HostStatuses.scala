// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.application.FlowLine
import downbeat.config.DownbeatConfig
import downbeat.lib.{NewestRead, WideMemory}
import downbeat.lib.ecc.StateMemory
import spinal.core._
import spinal.lib._

/** The newest status of each flow, and for each port a queue of the flows whose status it has not received, as
  * [[downbeat.application.StatusQueue]] has it for one application.
  *
  * A port that starts gets all flows into its queue. The module that takes one drops it unless it is the port's.
  */
case class HostStatuses(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    /** Status of the connections of the host's ports. */
    val status = slave(Flow(OwnedStatus(config)))
    val starts = in(Vec.fill(config.hostPorts)(Bool()))
    val lines = Vec.fill(config.hostPorts)(master(Stream(UInt(config.flowBits bits))))
    /** Answered by `newest`, invalid if there never was a status; the flow has left its queue before. */
    val read = slave(Flow(UInt(config.flowBits bits)))
    val newest = master(Flow(HeardStatus(config)))
    val sweeping = out(Bool())
    val idle = out(Bool())
  }
  noIoPrefix()

  private val lines = Seq.fill(config.hostPorts)(FlowLine(config))
  io.sweeping := lines.head.io.sweeping
  private val sweep = Reg(UInt(config.flowBits bits)) init 0
  when(io.sweeping)(sweep := sweep + 1)

  private val memory = WideMemory(StateMemory(config.ecc, HeardStatus(config), config.flows))
  private val arrival = io.status.m2sPipe()
  private val arriving = arrival.status.reference.flow
  private val heard = HeardStatus(config)
  heard.heard := !io.sweeping
  heard.owned := arrival.payload
  memory.write(io.sweeping ? sweep | arriving, heard, io.sweeping || arrival.valid)

  /** A port that has started, and how far its flows have been put into its queue. */
  private val announcing = new Area {
    private val wanted = Vec.fill(config.hostPorts)(RegInit(False))
    for ((port, starts) <- wanted.zip(io.starts)) port setWhen starts
    val busy = wanted.asBits.orR
    private val port = OHToUInt(OHMasking.first(wanted.asBits))
    val flow = Reg(UInt(config.flowBits bits)) init 0
    // Joins of one flow must not follow each other closely.
    private val pause = Reg(UInt(2 bits)) init 0
    pause := pause + 1
    val joins = busy && pause === 3 && !io.status.valid && !arrival.valid && !RegNext(arrival.valid, False)
    when(joins) {
      flow := flow + 1
      when(flow === flow.maxValue)(wanted(port) := False)
    }
    def joinsOf(index: Int): Bool = joins && port === index
  }
  for ((line, index) <- lines.zipWithIndex) {
    val arrives = arrival.valid && arrival.owner === index + 1
    line.io.joins.valid := arrives || announcing.joinsOf(index)
    line.io.joins.payload := arrival.valid ? arriving | announcing.flow
    io.lines(index) << line.io.flows
  }

  private val written = Flow(UInt(config.flowBits bits))
  written.valid := arrival.valid
  written.payload := arriving
  private val reading = new NewestRead(memory, io.read, written)
  io.newest << reading.newest

  io.idle := !io.sweeping && !arrival.valid && !announcing.busy && !reading.busy
}

/** A word of the memory; without `heard` the rest means nothing. */
case class HeardStatus(config: DownbeatConfig) extends Bundle {
  val heard = Bool()
  val owned = OwnedStatus(config)
}
