// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.application.FlowLine
import downbeat.config.DownbeatConfig
import downbeat.lib.{NewestRead, WideMemory}
import downbeat.lib.ecc.StateMemory
import downbeat.messages.PathReport
import spinal.core._
import spinal.lib._

/** The newest path report of each flow, and for each port a queue of the flows whose report it has not been given, as
  * [[HostStatuses]] has it for the status. Reports of the application in the fabric go on to it.
  */
case class HostReports(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val opened = slave(Flow(HostOpened(config)))
    /** Those of one flow at least eight clocks apart. */
    val reports = slave(Flow(PathReport(config)))
    val others = master(Flow(PathReport(config)))
    val lines = Vec.fill(config.hostPorts)(master(Stream(UInt(config.flowBits bits))))
    /** Answered by `newest`; the flow has left its queue before. */
    val read = slave(Flow(UInt(config.flowBits bits)))
    val newest = master(Flow(OwnedReport(config)))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val owners = StateMemory(config.ecc, UInt(config.ownerBits bits), config.flows).addAttribute("no_rw_check")
  owners.write(io.opened.flow, io.opened.owner, io.opened.valid)

  // A connection's first report comes long after its opening.
  private val arrival = Flow(OwnedReport(config))
  arrival.valid := RegNext(io.reports.valid) init False
  arrival.owner := owners.readSync(io.reports.reference.flow, io.reports.valid)
  arrival.report := RegNextWhen(io.reports.payload, io.reports.valid)
  io.others << arrival.takeWhen(arrival.owner === 0).map(_.report)

  private val kept = arrival.takeWhen(arrival.owner =/= 0).m2sPipe()
  private val arriving = kept.report.reference.flow
  private val memory = WideMemory(StateMemory(config.ecc, OwnedReport(config), config.flows))
  memory.write(arriving, kept.payload, kept.valid)

  private val lines = Seq.fill(config.hostPorts)(FlowLine(config))
  for ((line, index) <- lines.zipWithIndex) {
    line.io.joins.valid := kept.valid && kept.owner === index + 1
    line.io.joins.payload := arriving
    io.lines(index) << line.io.flows
  }

  private val written = Flow(UInt(config.flowBits bits))
  written.valid := kept.valid
  written.payload := arriving
  private val reading = new NewestRead(memory, io.read, written)
  io.newest << reading.newest

  private val queued = lines.map(line => !line.io.empty && !line.io.flows.valid).orR
  io.idle := !arrival.valid && !kept.valid && !queued && !reading.busy && !lines.head.io.sweeping
}

/** A path report, and whose connection it is about. */
case class OwnedReport(config: DownbeatConfig) extends Bundle {
  val owner = UInt(config.ownerBits bits)
  val report = PathReport(config)
}
