// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.messages.TraceRecord
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
    record.startup := congestion.STARTUP
    record.steady := congestion.STEADY
    record.window := WINDOW
    record.acknowledged := UNACKNOWLEDGED
    record.nextSend := NEXT_SEND
    record.highestSent := HIGHEST_SENT
    record.sendWindow := SEND_WINDOW
    record.received := RECEIVED
    record.sent := transmit.returned.valid && !transmit.returned.failed && !transmit.descriptor.flags.rst
    record.sentSequence := transmit.returned.sequence
    record.sentLength := transmit.returned.length
    record.retransmission := record.sent && transmit.repeats
    record.asked := congestion.ASKED
    record.estimates := ESTIMATES
    record.inline := INLINE_TOLD
  }
}
