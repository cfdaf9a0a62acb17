// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.config.DownbeatConfig
import downbeat.congestion.CongestionEventKind
import downbeat.engine.pipeline.{EnginePipeline, Signals}
import downbeat.engine.recovery.RecoveryStage
import downbeat.messages.{ConnectionParameters, EventKind, TcpState}
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
  /** With `sent` and `departed`; of a departure, one past the segment's end. */
  val sequence = SequenceNumber()
  val length = UInt(16 bits)
  val resent, ahead = Bool()
  /** With `opening`: the connection goes without RACK. */
  val noRack = Bool()
  val now = Instant()
}

/** Recovery's outputs to congestion, and the end of the retransmission timer. */
case class RecoveryResponse() extends Bundle {
  val kind = CongestionEventKind()
  val uninflated = Bool()
  val rttValid, rttFirst, rttFull = Bool()
  val rtt, rttMinimum = UInt(36 bits)
  val deadline = Instant()
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
  entry(SEQUENCE) := request.sequence
  entry(LENGTH) := request.length.resized
  entry(RESENT) := request.resent
  entry(AHEAD) := request.ahead
  entry(STAMP).fraction := 0
  entry(STAMP).ns := request.now.ns
  for (no <- Seq(ESTABLISHED, STARTS, SELECTIVE, CAME_TWICE, RESUMED, FINISHING, TIMESTAMPED)) entry(no) := False
  for (none <- Seq(FLOW, TIMESTAMP_VALUE)) entry(none) := 0
  for (nothing <- Seq(FLAGS, OPTIONS)) entry(nothing).clearAll()
  private val parameters = ConnectionParameters(config).allowOverride()
  parameters.clearAll()
  parameters.recovery.noRack := request.noRack
  entry(PARAMETERS) := parameters
  private val recovery = new RecoveryStage(config, pipeline, signals)

  private val exit = recovery.steps.last
  io.response.valid := exit.isValid
  io.response.kind := exit(CONGESTION_KIND)
  io.response.uninflated := exit(UNINFLATED)
  io.response.rttValid := exit(RTT_VALID)
  io.response.rttFirst := exit(RTT_FIRST)
  io.response.rttFull := exit(RTT_FULL)
  io.response.rtt := exit(RTT)
  io.response.rttMinimum := exit(RTT_MINIMUM)
  io.response.deadline := exit(RECOVERY_DEADLINE)
  pipeline.build()
}
