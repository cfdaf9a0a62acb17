// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import downbeat.lib.Tally
import downbeat.messages.{
  AddressReadPort, ApplicationEvent, FlowPosition, FlowStatus, ListenRequest, NextInstant, OpenCommand, PathReport,
  PolicyChange, Refusal, StartResult
}
import downbeat.time.Instant
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** The host's way into the core, beside the application's streams: commands and notifications in rings in the host's
  * memory, doorbells for the bytes that both sides see in the payload memory. This file only wires.
  *
  * {{{
  *   m_axi_host --> fetcher --> executor --> opens, listens, policies, events
  *   doorbells ----------------^  |  ^
  *                                |  flows <-- opened, status
  *                  responses <---+    |     stamps <-- departed, received
  *                       |          statuses   |
  *                       v             v
  *   m_axi_host <--------- notification writer --> port: indexes, interrupt
  * }}}
  */
case class HostInterface(config: DownbeatConfig) extends Component {
  private val count = config.hostPorts
  val io = new Bundle {
    val now = in(Instant())
    val setUp = in(Vec.fill(count)(HostSetUp()))
    val shown = out(Vec.fill(count)(HostShown()))
    val doorbells = slave(Stream(Doorbell(config)))
    val rings = master(Axi4(HostPorts.axi))
    val interrupt = out(Bits(count bits))
    // From the directory and the engine
    val opened = slave(Flow(HostOpened(config)))
    val sends, receives = slave(Flow(FlowPosition(config)))
    val status = slave(Flow(FlowStatus(config)))
    /** Status for the application in the fabric, a clock later. */
    val othersStatus = master(Flow(FlowStatus(config)))
    val reports = config.pathReports generate slave(Flow(PathReport(config)))
    val othersReports = config.pathReports generate master(Flow(PathReport(config)))
    val started = config.hostStart generate slave(Flow(StartResult(config)))
    val addressRead = master(AddressReadPort(config))
    /** Stamps of our segments, and of the peers'. */
    val departed, received = slave(Flow(SegmentStamp(config)))
    val refusals = slave(Stream(Refusal(config)))
    // To them
    val opens = master(Stream(OpenCommand(config)))
    val listens = master(Stream(ListenRequest(config)))
    val policies = config.policiesChoose generate master(Stream(PolicyChange(config)))
    val events = master(Stream(ApplicationEvent(config)))
    val next = out(Vec.fill(count)(NextInstant()))
    val idle = out(Bool())
  }
  noIoPrefix()
  Axi4SpecRenamer(io.rings)

  private val ports = Seq.fill(count)(HostPort())
  private val flows = HostFlows(config)
  private val statuses = HostStatuses(config)
  private val fetcher = CommandFetcher(config)
  private val executor = HostExecutor(config)
  private val responses = HostResponses(config)
  private val writer = NotificationWriter(config)
  private val reports = config.pathReports generate HostReports(config)
  private val stamps = HostStamps(config)

  // ---- connections

  flows.io.opened << io.opened
  flows.io.sends << io.sends
  flows.io.receives << io.receives
  flows.io.status << io.status
  private val owned = flows.io.owned
  statuses.io.status << owned.takeWhen(owned.owner =/= 0)
  io.othersStatus << owned.takeWhen(owned.owner === 0).map(_.status)

  if (config.pathReports) {
    reports.io.opened << io.opened
    reports.io.reports << io.reports
    io.othersReports << reports.io.others
    reports.io.read << writer.io.readReport
    writer.io.newestReport << reports.io.newest
    for (index <- 0 until count) writer.io.reportFlows(index) << reports.io.lines(index)
  }

  stamps.io.departed << io.departed
  stamps.io.received << io.received
  for ((read, record) <- stamps.io.records.zip(flows.io.recordReads)) read <> record
  stamps.io.takes := writer.io.takes
  writer.io.stamps << stamps.io.stamps
  writer.io.dropped := stamps.io.dropped

  // ---- doorbells and commands

  executor.io.doorbells << io.doorbells
  executor.io.commands << fetcher.io.commands
  flows.io.look << executor.io.look
  executor.io.view := flows.io.view
  flows.io.update << executor.io.update
  flows.io.writtenRung << executor.io.writtenRung
  flows.io.writtenReported << executor.io.writtenReported
  flows.io.consumedRung << executor.io.consumedRung
  flows.io.consumedReported << executor.io.consumedReported
  executor.io.sweeping := flows.io.sweeping
  io.events << executor.io.events.halfPipe()
  io.opens << executor.io.opens
  io.listens << executor.io.listens
  if (config.policiesChoose) io.policies << executor.io.policies
  if (config.hostStart) executor.io.started << io.started
  fetcher.io.space := responses.io.commandSpace
  io.rings.ar << fetcher.io.axi.ar
  fetcher.io.axi.r << io.rings.r

  // ---- responses and notifications

  responses.io.responses << executor.io.responses
  responses.io.refusals << io.refusals
  responses.io.opened << io.opened
  responses.io.reserves := fetcher.io.reserves
  responses.io.claims := executor.io.claims
  responses.io.releases := executor.io.releases | fetcher.io.releases
  executor.io.space := responses.io.errorSpace
  writer.io.now := io.now
  for (index <- 0 until count) {
    writer.io.responses(index) << responses.io.lines(index)
    writer.io.flows(index) << statuses.io.lines(index)
  }
  statuses.io.read << writer.io.read
  writer.io.newest << statuses.io.newest
  io.addressRead <> writer.io.addressRead
  flows.io.generationRead.enable := writer.io.addressRead.enable
  flows.io.generationRead.flow := writer.io.addressRead.flow
  writer.io.generation := flows.io.generationRead.generation
  io.rings.aw << writer.io.axi.aw
  io.rings.w << writer.io.axi.w
  writer.io.axi.b << io.rings.b

  private val timeouts = Seq(
    new ResponseTimeout(io.now, io.rings.ar.valid || io.rings.r.ready, io.rings.ar.fire || io.rings.r.fire),
    new ResponseTimeout(
      io.now, io.rings.aw.valid || io.rings.w.valid || io.rings.b.ready,
      io.rings.aw.fire || io.rings.w.fire || io.rings.b.fire))

  // ---- ports

  private val views = Vec(ports.map(_.io.view))
  executor.io.ports := views
  fetcher.io.ports := views
  writer.io.ports := views
  for ((port, index) <- ports.zipWithIndex) {
    port.io.now := io.now
    port.io.setUp := io.setUp(index)
    port.io.tail << executor.io.tails(index)
    port.io.head << executor.io.heads(index)
    port.io.commandDone := fetcher.io.dones(index)
    port.io.written := writer.io.written(index)
    port.io.notified := writer.io.notified(index)
    port.io.broken := fetcher.io.brokens(index) || writer.io.brokens(index) ||
      port.io.alive && timeouts.map(_.expired).orR
    port.io.busy := fetcher.io.busy(index) || writer.io.busy(index)
    port.io.settled := executor.io.settled(index) && !statuses.io.sweeping
    statuses.io.starts(index) := port.io.starts
    stamps.io.starts(index) := port.io.starts
    io.interrupt(index) := port.io.interrupt
    io.next(index) := port.io.next
    val shown = io.shown(index)
    shown.running := port.io.alive
    shown.refused := port.io.refused
    shown.stopped := port.io.stopped
    shown.interrupt := port.io.interrupt
    shown.commandHead := port.io.view.commandHead
    shown.notificationTail := port.io.view.notificationTail
    shown.errors := Tally(executor.io.errors(index), 32)
    shown.errorsUnreported := Tally(executor.io.unreported(index), 32)
    writer.io.unreported(index) := shown.errorsUnreported
  }

  io.idle := statuses.io.idle && fetcher.io.idle && executor.io.idle && responses.io.idle && writer.io.idle && stamps.io.idle &&
    ports.map(_.io.idle).andR && !owned.valid && !io.events.valid && !flows.io.sweeping &&
    (if (config.pathReports) reports.io.idle else True)
}
