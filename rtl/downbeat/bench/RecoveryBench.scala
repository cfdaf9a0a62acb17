// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.DownbeatConfig
import downbeat.congestion.CongestionEventKind
import downbeat.engine.{EnginePipeline, EventKind, RecoveryStage, Signals, TcpState}
import downbeat.time.Instant
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** An event of flow 0, as protocol hands it on; what it says of the connection is after the event. */
case class RecoveryQuestion(config: DownbeatConfig) extends Bundle {
  val kind = EventKind()
  val opening = Bool()
  val unacknowledged, highestSent = SequenceNumber()
  val acked = UInt(32 bits)
  val duplicate, echoed = Bool()
  val now = Instant()
}

/** What congestion is told of it. */
case class RecoveryAnswer() extends Bundle {
  val kind = CongestionEventKind()
  val uninflated = Bool()
}

/** Test-only room: the recovery stage alone between ports, so that SND.UNA may move by gigabytes. Questions eight clocks apart. */
case class RecoveryBench(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val question = slave(Flow(RecoveryQuestion(config)))
    val answer = master(Flow(RecoveryAnswer()))
  }
  noIoPrefix()

  private val signals = new Signals(config)
  import signals._
  private val pipeline = new EnginePipeline(config.eventSpacing)
  private val entry = pipeline.entry
  private val question = io.question.m2sPipe
  entry.valid := question.valid
  entry(KIND) := question.kind
  entry(NOW) := question.now
  entry(OPENING) := question.opening
  entry(LIVE) := !question.opening
  entry(UNACKNOWLEDGED) := question.unacknowledged
  entry(HIGHEST_SENT) := question.highestSent
  entry(WRITTEN) := question.highestSent
  entry(INITIAL_SEQUENCE) := question.unacknowledged
  entry(OUTSTANDING) := question.highestSent.since(question.unacknowledged)
  entry(OUTSTANDING_BEFORE) := question.highestSent.since(question.unacknowledged) + question.acked
  entry(ACKED) := question.acked
  entry(ADVANCED) := question.acked.orR
  entry(DUPLICATE) := question.duplicate
  entry(REPEATED) := question.duplicate
  entry(CONGESTION_ECHOED) := question.echoed
  entry(STATE) := TcpState.established
  entry(SEND_WINDOW) := 1 << 20
  entry(SEGMENT_SIZE) := 1460
  for (no <- Seq(ESTABLISHED, SELECTIVE, RESUMED, RESENT, AHEAD, FINISHING, TIMESTAMPED)) entry(no) := False
  for (none <- Seq(FLOW, LENGTH, TIMESTAMP_VALUE)) entry(none) := 0
  for (nothing <- Seq(STAMP, SEQUENCE, FLAGS, OPTIONS, PARAMETERS)) entry(nothing).clearAll()
  private val recovery = new RecoveryStage(config, pipeline, signals)

  private val exit = recovery.steps.last
  io.answer.valid := exit.isValid
  io.answer.kind := exit(CONGESTION_KIND)
  io.answer.uninflated := exit(UNINFLATED)
  pipeline.build()
}
