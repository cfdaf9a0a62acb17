// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.config.DownbeatConfig
import downbeat.congestion.CongestionEventKind
import downbeat.engine.pipeline.{EnginePipeline, Signals}
import downbeat.engine.recovery.RecoveryStage
import downbeat.messages.{EventKind, TcpState}
import downbeat.time.Instant
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** An event of flow 0, as the protocol stage passes it on, with the connection's values after the event. */
case class RecoveryRequest(config: DownbeatConfig) extends Bundle {
  val kind = EventKind()
  val opening = Bool()
  val unacknowledged, highestSent = SequenceNumber()
  val acked = UInt(32 bits)
  val duplicate, echoed = Bool()
  val now = Instant()
}

/** Recovery's outputs to congestion. */
case class RecoveryResponse() extends Bundle {
  val kind = CongestionEventKind()
  val uninflated = Bool()
}

/** Test-only module: the recovery stage alone between ports, so that SND.UNA may move by gigabytes. Requests eight
  * clocks apart.
  */
case class RecoveryBench(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val request = slave(Flow(RecoveryRequest(config)))
    val response = master(Flow(RecoveryResponse()))
  }
  noIoPrefix()

  private val signals = new Signals(config)
  import signals._
  private val pipeline = new EnginePipeline(config.eventSpacing, config.ecc)
  private val entry = pipeline.entry
  private val request = io.request.m2sPipe
  entry.valid := request.valid
  entry(KIND) := request.kind
  entry(NOW) := request.now
  entry(OPENING) := request.opening
  entry(LIVE) := !request.opening
  entry(UNACKNOWLEDGED) := request.unacknowledged
  entry(ACKNOWLEDGMENT) := request.unacknowledged
  entry(HIGHEST_SENT) := request.highestSent
  entry(WRITTEN) := request.highestSent
  entry(INITIAL_SEQUENCE) := request.unacknowledged
  entry(OUTSTANDING) := request.highestSent.since(request.unacknowledged)
  entry(OUTSTANDING_BEFORE) := request.highestSent.since(request.unacknowledged) + request.acked
  entry(ACKED) := request.acked
  entry(ADVANCED) := request.acked.orR
  entry(DUPLICATE) := request.duplicate
  entry(REPEATED) := request.duplicate
  entry(CONGESTION_ECHOED) := request.echoed
  entry(STATE) := TcpState.established
  entry(SEND_WINDOW) := 1 << 20
  entry(SEGMENT_SIZE) := 1460
  for (no <- Seq(ESTABLISHED, STARTS, SELECTIVE, CAME_TWICE, RESUMED, RESENT, AHEAD, FINISHING,
      TIMESTAMPED)) entry(no) := False
  for (none <- Seq(FLOW, LENGTH, TIMESTAMP_VALUE)) entry(none) := 0
  for (nothing <- Seq(STAMP, SEQUENCE, FLAGS, OPTIONS, PARAMETERS)) entry(nothing).clearAll()
  private val recovery = new RecoveryStage(config, pipeline, signals)

  private val exit = recovery.steps.last
  io.response.valid := exit.isValid
  io.response.kind := exit(CONGESTION_KIND)
  io.response.uninflated := exit(UNINFLATED)
  pipeline.build()
}
