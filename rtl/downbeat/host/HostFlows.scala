// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import downbeat.lib.ecc.StateMemory
import downbeat.memory.FlowPointers
import downbeat.messages.{FlowPosition, FlowStatus, TcpState}
import spinal.core._
import spinal.lib._

/** A status, and whose connection it is about. */
case class OwnedStatus(config: DownbeatConfig) extends Bundle {
  val owner = UInt(config.ownerBits bits)
  val status = FlowStatus(config)
}

case class HostRecordUpdate(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val record = HostRecord(config)
}

case class GenerationReadPort(config: DownbeatConfig) extends Bundle with IMasterSlave {
  val enable = Bool()
  val flow = UInt(config.flowBits bits)
  val generation = UInt(config.generationBits bits)

  override def asMaster(): Unit = {
    out(enable, flow)
    in(generation)
  }
}

case class RecordReadPort(config: DownbeatConfig) extends Bundle with IMasterSlave {
  val enable = Bool()
  val flow = UInt(config.flowBits bits)
  val record = HostRecord(config)

  override def asMaster(): Unit = {
    out(enable, flow)
    in(record)
  }
}

/** Result of reading a flow's state. */
case class HostView(config: DownbeatConfig) extends Bundle {
  val record = HostRecord(config)
  val limits = HostLimits(config)
  /** Positions that the host has rung, and positions that the engine has received. */
  val writtenRung, writtenReported, consumedRung, consumedReported = UInt(32 bits)
}

/** The host interface's state of each flow: its owner, the bounds of its doorbells, and the positions that the engine
  * has received.
  */
case class HostFlows(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val opened = slave(Flow(HostOpened(config)))
    /** The first sequence numbers of the data of both sides. */
    val sends, receives = slave(Flow(FlowPosition(config)))
    val status = slave(Flow(FlowStatus(config)))
    /** The same, a clock later. */
    val owned = master(Flow(OwnedStatus(config)))
    /** Taken unless something of this flow is written in the same clock; `view` is valid in the next one. */
    val look = slave(Stream(UInt(config.flowBits bits)))
    val view = out(HostView(config))
    val update = slave(Stream(HostRecordUpdate(config)))
    val writtenRung, writtenReported, consumedRung, consumedReported = slave(Stream(FlowPosition(config)))
    /** The flow's newest connection, a clock after `enable`. */
    val generationRead = slave(GenerationReadPort(config))
    /** A connection's record, a clock after `valid`: for departures, for arrivals. */
    val recordReads = Vec.fill(2)(slave(RecordReadPort(config)))
    val sweeping = out(Bool())
  }
  noIoPrefix()

  private val records = StateMemory(config.ecc, HostRecord(config), config.flows).addAttribute("no_rw_check")
  private val fresh = HostRecord(config)
  fresh.owner := io.opened.owner
  fresh.generation := io.opened.generation
  fresh.closed := False
  fresh.shutDown := False
  fresh.stamped := False
  fresh.after := 0
  fresh.urgent := False
  fresh.urgentEnd := 0
  private val recordFlow = io.opened.valid ? io.opened.flow | io.update.flow
  private val recordWritten = io.opened.valid || io.update.valid
  records.write(recordFlow, io.opened.valid ? fresh | io.update.record, recordWritten)
  io.update.ready := !io.opened.valid

  private val generations =
    StateMemory(config.ecc, UInt(config.generationBits bits), config.flows).addAttribute("no_rw_check")
  generations.write(io.opened.flow, io.opened.generation, io.opened.valid)
  io.generationRead.generation := generations.readSync(io.generationRead.flow, io.generationRead.enable)

  // A connection's first status comes long after its opening.
  io.owned.valid := RegNext(io.status.valid) init False
  io.owned.owner := records.readSync(io.status.reference.flow, io.status.valid).owner
  io.owned.status := RegNextWhen(io.status.payload, io.status.valid)

  for (read <- io.recordReads) read.record := records.readSync(read.flow, read.enable)

  private val sweep = Reg(UInt(config.flowBits + 1 bits)) init 0
  io.sweeping := !sweep.msb
  when(io.sweeping)(sweep := sweep + 1)

  private val limits = StateMemory(config.ecc, HostLimits(config), config.flows).addAttribute("no_rw_check")
  private val bounds = HostLimits(config)
  bounds.heard := !io.sweeping
  bounds.generation := io.status.reference.generation
  bounds.synchronized := io.status.state =/= TcpState.synSent
  bounds.ended := io.status.state === TcpState.closed
  bounds.acknowledged := io.status.acknowledged.value
  bounds.received := io.status.received.value - io.status.peerFinished.asUInt // FIN takes a number, but no byte
  private val limitsFlow = io.sweeping ? sweep.resize(config.flowBits) | io.status.reference.flow
  private val limitsWritten = io.sweeping || io.status.valid
  limits.write(limitsFlow, bounds, limitsWritten)

  private val collides =
    recordWritten && recordFlow === io.look.payload || limitsWritten && limitsFlow === io.look.payload
  io.look.ready := !collides
  io.view.record := records.readSync(io.look.payload, io.look.fire)
  io.view.limits := limits.readSync(io.look.payload, io.look.fire)

  private def pointers(opened: Flow[FlowPosition], updates: Stream[FlowPosition]): UInt = {
    val positions = FlowPointers(config)
    positions.io.opened << opened
    positions.io.updates << updates
    positions.io.request.valid := io.look.fire
    positions.io.request.payload := io.look.payload
    positions.io.response.value
  }
  io.view.writtenRung := pointers(io.sends, io.writtenRung)
  io.view.writtenReported := pointers(io.sends, io.writtenReported)
  io.view.consumedRung := pointers(io.receives, io.consumedRung)
  io.view.consumedReported := pointers(io.receives, io.consumedReported)
}
