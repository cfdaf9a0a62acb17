// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.congestion.DeliverySample
import downbeat.engine.congestion.CongestionStage
import downbeat.engine.pipeline.{EnginePipeline, Signals}
import downbeat.engine.transmit.TransmitStage
import downbeat.messages.{EventKind, StartResult, TraceRecord}
import downbeat.report.PathEvent
import spinal.core._
import spinal.lib._

/** Makes a record of each event that leaves the pipeline: what it was and what it did. */
class TraceRecorder(
    config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals, congestion: CongestionStage,
    transmit: TransmitStage)
    extends Area {
  import signals._

  val record = Flow(TraceRecord(config))
  private val exit = pipeline.exit
  new exit.Area {
    record.valid := isValid
    record.time := NOW
    record.reference.flow := FLOW
    record.reference.generation := CONNECTION
    record.kind := KIND
    record.live := LIVE || OPENING
    record.state := STATE
    record.reason := REASON
    record.congestion := congestion.EVENT
    record.delivery := (if (config.policiesSample) apply(DELIVERY) else DeliverySample.none)
    record.startup := congestion.STARTUP
    record.steady := congestion.STEADY
    record.window := WINDOW
    record.hostWindow := (if (config.hostStart) apply(congestion.hostWindow) else U(0, 16 bits))
    record.hostExpired := (if (config.hostStart) apply(congestion.hostExpired) else False)
    record.growthLimited := congestion.growthLimited
    record.retreats := congestion.retreats.fold(False)(apply(_))
    record.acknowledged := UNACKNOWLEDGED
    record.nextSend := NEXT_SEND
    record.highestSent := HIGHEST_SENT
    record.sendWindow := SEND_WINDOW
    record.received := RECEIVED
    record.sent := transmit.returned.valid && !transmit.returned.failed && !transmit.descriptor.flags.rst
    record.sentSequence := transmit.returned.sequence
    record.sentLength := transmit.returned.length
    record.retransmission := record.sent && transmit.repeats
    record.requested := congestion.REQUESTED
    record.estimates := ESTIMATES
    record.inline := INLINE_UPDATE
  }

  /** The events that a path report is made of. */
  val path: Flow[PathEvent] = config.pathReports generate Flow(PathEvent(config))
  private val observe = config.pathReports generate new exit.Area {
    path.valid := isValid && LIVE && !UNREADABLE
    path.reference := record.reference
    path.time := NOW
    path.established := ESTABLISHED
    path.state := STATE
    path.kind := congestion.EVENT.kind
    path.ackedBytes := ACKED
    path.rttValid := RTT_VALID
    path.rtt := RTT
    path.rttFirst := RTT_FIRST
    path.segmentSize := SEGMENT_SIZE
    path.recovering := RECOVERING
    path.retreats := LIVE && congestion.retreats.fold(False)(apply(_))
    path.window := WINDOW
  }

  /** Whether a start of the host's was taken. */
  val started: Flow[StartResult] = config.hostStart generate Flow(StartResult(config))
  private val startResult = config.hostStart generate new exit.Area {
    started.valid := isValid && KIND === EventKind.start
    started.accepted := STARTS
    if (config.hostPorts > 0) started.owner := PARAMETERS.owner
  }
}
