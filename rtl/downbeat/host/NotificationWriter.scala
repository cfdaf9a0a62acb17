// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import downbeat.messages.AddressReadPort
import downbeat.time.Instant
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** Writes notifications into the rings of all ports, one at a time and the ports in turn; of one port's, responses
  * first, stamps last.
  *
  * A status says what is in memory already: it was made by the write response of the last payload it tells of. The
  * ring's tail moves with the write response of the notification.
  */
case class NotificationWriter(config: DownbeatConfig) extends Component {
  private val count = config.hostPorts
  val io = new Bundle {
    val now = in(Instant())
    val ports = in(Vec.fill(count)(HostPortView()))
    val unreported, dropped = in(Vec.fill(count)(UInt(32 bits)))
    val responses = Vec.fill(count)(slave(Stream(HostResponse(config))))
    val flows = Vec.fill(count)(slave(Stream(UInt(config.flowBits bits))))
    val read = master(Flow(UInt(config.flowBits bits)))
    val newest = slave(Flow(HeardStatus(config)))
    /** Likewise path reports. */
    val reportFlows = config.pathReports generate Vec.fill(count)(slave(Stream(UInt(config.flowBits bits))))
    val readReport = config.pathReports generate master(Flow(UInt(config.flowBits bits)))
    val newestReport = config.pathReports generate slave(Flow(OwnedReport(config)))
    val stamps = slave(Stream(HostStamp(config)))
    /** The port runs and its ring has space. */
    val takes = out(Bits(count bits))
    val addressRead = master(AddressReadPort(config))
    /** Generation of the flow's connection, a clock after `addressRead.enable`. */
    val generation = in(UInt(config.generationBits bits))
    val axi = master(Axi4WriteOnly(HostPorts.axi))
    /** A notification has left for the memory; is in memory; the memory refused one; one is on its way. */
    val written, notified, brokens, busy = out(Bits(count bits))
    val idle = out(Bool())
  }
  noIoPrefix()
  Axi4SpecRenamer(io.axi)

  private object Step extends SpinalEnum {
    val idle, take, await, compose, request, write, respond, settle = newElement()
  }
  private val step = RegInit(Step.idle)
  private val port = Reg(HostPorts.index(config))
  private val view = io.ports(port)
  private val last = Reg(Bits(count bits)) init 1
  private val wants = B(for (index <- 0 until count) yield {
    val port = io.ports(index)
    val unread = port.notificationTail - port.notificationHead
    val full = RegNext((unread >> port.notificationSize) =/= 0) init False // a clock late: see `settle`
    io.takes(index) := port.running && !full
    io.takes(index) && (io.responses(index).valid || io.flows(index).valid || hasReport(index) || hasStamp(index))
  })
  private def hasReport(index: Int): Bool = if (config.pathReports) io.reportFlows(index).valid else False
  private def hasStamp(index: Int): Bool = io.stamps.valid && io.stamps.port === index
  private val choice = OHMasking.roundRobin(wants, last.rotateLeft(1))
  private def ofPort(condition: Bool): Bits = condition ? (U(1, count bits) |<< port).asBits | B(0, count bits)

  private val isResponse = Reg(Bool())
  private val response = Reg(HostResponse(config))
  private val isReport, isStamp = Reg(Bool())
  private val stamp = Reg(HostStamp(config))
  private val status = Reg(HeardStatus(config))
  private val report = config.pathReports generate Reg(OwnedReport(config))
  private val place = Reg(UInt(64 bits))
  private val entry = Reg(Bits(HostFormat.notificationBytes * 8 bits))
  private val beat = Reg(UInt(3 bits))
  private val entryBits = log2Up(HostFormat.notificationBytes)

  // ---- taken: a response, a flow whose status and addresses are read, or a stamp

  for (index <- 0 until count) {
    val takes = step === Step.take && port === index
    io.responses(index).ready := takes
    io.flows(index).ready := takes && !io.responses(index).valid
    if (config.pathReports)
      io.reportFlows(index).ready := takes && !io.responses(index).valid && !io.flows(index).valid
  }
  private val responses = Vec(io.responses.map(_.payload))
  private val hasResponse = Vec(io.responses.map(_.valid))(port)
  private val hasStatus = Vec(io.flows.map(_.valid))(port)
  private val takesReport = Vec((0 until count).map(hasReport))(port)
  private val takesStamp = step === Step.take && !hasResponse && !hasStatus && !takesReport
  io.stamps.ready := takesStamp
  private val takesFlow = step === Step.take && !hasResponse && !takesStamp
  io.read.valid := takesFlow && hasStatus
  io.read.payload := Vec(io.flows.map(_.payload))(port)
  io.addressRead.enable := takesFlow
  io.addressRead.flow := io.read.payload
  if (config.pathReports) {
    io.readReport.valid := takesFlow && !hasStatus
    io.readReport.payload := Vec(io.reportFlows.map(_.payload))(port)
    when(!hasStatus)(io.addressRead.flow := io.readReport.payload)
  }
  private val addresses = RegNextWhen(io.addressRead.addresses, RegNext(takesFlow) init False)
  private val generation = RegNextWhen(io.generation, RegNext(takesFlow) init False)
  /** The last status or report of a connection that is gone is no longer of interest. */
  private val isReported = {
    val owner = (port +^ 1).resize(config.ownerBits)
    val ofStatus =
      status.heard && status.owned.owner === owner && status.owned.status.reference.generation === generation
    if (!config.pathReports) ofStatus
    else isReport ? (report.owner === owner && report.report.reference.generation === generation) | ofStatus
  }

  // ---- the entry

  private val composed = Bits(HostFormat.notificationBytes * 8 bits)
  composed := 0
  private def put(name: String, value: Data, table: Seq[HostField] = HostFormat.notification): Unit = {
    val field = HostFormat.field(table, name)
    composed(field.offset * 8, field.bits bits) := value.asBits.resized
  }
  private val wrapped = (view.notificationTail >> view.notificationSize).lsb
  put("time", io.now.ns)
  put("commandHead", view.commandHead)
  put("phase", !wrapped)
  when(isResponse) {
    put("kind", (response.isError ? HostNotificationKind.error | HostNotificationKind.response).asBits)
    put("reason", response.reason)
    put("request", response.request)
    put("flow", response.flow)
    put("generation", response.generation)
    put("state", response.isError ? response.source.asBits | B(0, widthOf(response.source) bits))
    put("value", response.value)
    put("errorsUnreported", io.unreported(port))
  } otherwise {
    val shown = status.owned.status
    put("kind", HostNotificationKind.status().asBits)
    put("reason", shown.reason)
    put("request", addresses.request)
    put("flow", shown.reference.flow)
    put("generation", shown.reference.generation)
    put("state", shown.state)
    put("acknowledged", shown.acknowledged)
    put("written", shown.written)
    put("consumed", shown.consumed)
    put("received", shown.received)
    put("urgentEnd", shown.urgentEnd)
    put("flags",
      HostFormat.pack(HostFormat.statusFlags)("passive" -> addresses.passive,
        "peerFinished" -> shown.peerFinished, "urgent" -> shown.urgent, "struggling" -> shown.struggling))
    put("errorKind", shown.error.kind)
    put("errorCode", shown.error.code)
    put("errorCount", shown.errors)
    put("remoteIp", addresses.remoteIp)
    put("remotePort", addresses.remotePort)
    put("localPort", addresses.localPort)
  }
  if (config.pathReports) when(!isResponse && isReport) {
    val shown = report.report
    composed := 0
    put("kind", HostNotificationKind.pathReport().asBits)
    put("flow", shown.reference.flow)
    put("generation", shown.reference.generation)
    put("phase", !wrapped)
    put("state", shown.growth ## shown.closed ## shown.lossInAvoidance ## shown.phase.asBits, HostFormat.pathReport)
    put("time", shown.time.ns, HostFormat.pathReport)
    put("lossTime", shown.lossTime.ns, HostFormat.pathReport)
    for ((name, value) <- Seq("losses" -> shown.losses, "restarts" -> shown.restarts, "retreats" -> shown.retreats,
        "cwnd" -> shown.cwnd, "ssthresh" -> shown.ssthresh, "smoothedRtt" -> shown.smoothedRtt,
        "smallestRtt" -> shown.smallestRtt, "rttVariation" -> shown.rttVariation,
        "averageWindow" -> shown.averageWindow, "segmentSize" -> shown.segmentSize,
        "lossWindow" -> shown.lossWindow, "acked" -> shown.acked, "acks" -> shown.acks))
      put(name, value, HostFormat.pathReport)
  }

  when(isStamp) {
    composed := 0
    put("kind", HostNotificationKind.stamp().asBits)
    put("flow", stamp.segment.reference.flow)
    put("generation", stamp.segment.reference.generation)
    put("time", io.now.ns)
    put("commandHead", view.commandHead)
    put("phase", !wrapped)
    put("received", stamp.received, HostFormat.stamp)
    put("end", stamp.segment.end, HostFormat.stamp)
    put("dropped", io.dropped(port), HostFormat.stamp)
    put("sfd", stamp.segment.sfd, HostFormat.stamp)
  }

  // ---- the steps

  io.written := 0
  io.notified := 0
  io.brokens := 0
  switch(step) {
    is(Step.idle) {
      when(wants.orR) {
        port := OHToUInt(choice).resized
        last := choice
        step := Step.take
      }
    }
    is(Step.take) {
      isResponse := hasResponse
      isReport := !hasStatus
      isStamp := takesStamp
      response := responses(port)
      stamp := io.stamps.payload
      val mask = ((U(1, 16 bits) |<< view.notificationSize) - 1).resize(HostFormat.largestSizeLog2)
      val index = view.notificationTail.resize(HostFormat.largestSizeLog2) & mask
      place := view.notificationBase + (index << entryBits)
      step := (hasResponse || takesStamp) ? Step.compose | Step.await
    }
    is(Step.await) {
      status := io.newest.payload
      when(io.newest.valid)(step := Step.compose)
      if (config.pathReports) {
        report := io.newestReport.payload
        when(io.newestReport.valid)(step := Step.compose)
      }
    }
    is(Step.compose) {
      entry := composed
      beat := 0
      step := (isResponse || isStamp || isReported) ? Step.request | Step.idle
    }
    is(Step.request)(when(io.axi.aw.ready)(step := Step.write))
    is(Step.write) {
      when(io.axi.w.ready) {
        entry := entry |>> 64
        beat := beat + 1
        when(io.axi.w.last) {
          io.written := ofPort(True)
          step := Step.respond
        }
      }
    }
    is(Step.respond) {
      when(io.axi.b.valid) {
        io.notified := ofPort(!io.axi.b.resp(1))
        io.brokens := ofPort(io.axi.b.resp(1))
        step := Step.settle
      }
    }
    is(Step.settle)(step := Step.idle)
  }
  io.busy := ofPort(step =/= Step.idle)

  io.axi.aw.valid := step === Step.request
  io.axi.aw.addr := place
  io.axi.aw.id := 0
  io.axi.aw.len := HostFormat.notificationBytes / 8 - 1
  io.axi.aw.size := 3
  io.axi.aw.burst := Axi4.burst.INCR
  io.axi.w.valid := step === Step.write
  io.axi.w.data := entry(63 downto 0)
  io.axi.w.strb := 0xff
  io.axi.w.last := beat === beat.maxValue
  io.axi.b.ready := step === Step.respond

  io.idle := step === Step.idle && !wants.orR
}
