// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.Signals
import downbeat.engine.recovery.{
  ForwardAllowance, LossEstimate, LossEvidence, LossesByTime, ProbeWanted, SackScoreboard, Scoreboard
}
import downbeat.wire.{NearNumber, SackBlock}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** An ACK, and what recovery knew before it. */
case class ScoreboardRequest(config: DownbeatConfig) extends Bundle {
  val before = Scoreboard(config)
  val forget, recovering, mayRetransmit, retransmit = Bool()
  /** Losses by time, and a tail loss probe that is to be sent. */
  val waits, all, probeAgain, probeNext = Bool()
  val lostEnd = NearNumber(config.sendNumberBits) // from SND.UNA
  val selective = Bool()
  val duplicates = UInt(2 bits)
  val acked, outstanding = UInt(32 bits)
  val segmentSize = UInt(16 bits)
  val blocks = Vec.fill(4)(SackBlock(config.sendOffsetBits))
}

case class ScoreboardResponse(config: DownbeatConfig) extends Bundle {
  val ranges = Vec.fill(DownbeatConfig.ranges)(SackBlock(config.sendOffsetBits))
  val highRxt, passed = UInt(config.sendOffsetBits bits)
  val hasNewSack, firstIsLost, drops = Bool()
  val retransmitLost = Bool()
  val offset, limit = UInt(config.sendOffsetBits bits)
  val credit = UInt(config.windowAllowanceBits bits)
  val delivered = SInt(config.sendOffsetBits + 2 bits)
  val pipe = UInt(config.sendOffsetBits bits)
}

/** Test-only module: recovery's scoreboard alone between ports, a request a clock. */
case class ScoreboardBench(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val request = slave(Flow(ScoreboardRequest(config)))
    val response = master(Flow(ScoreboardResponse(config)))
  }
  noIoPrefix()

  private val signals = new Signals(config)
  import signals._
  private val nodes = List.fill(13)(Node())
  private val entry = nodes.head
  private val request = io.request.m2sPipe
  entry.valid := request.valid
  entry(ACKED) := request.acked
  entry(OUTSTANDING) := request.outstanding
  entry(SELECTIVE) := request.selective
  entry(ADVANCED) := request.acked.orR
  entry(REPEATED) := !request.acked.orR
  entry(SEGMENT_SIZE) := request.segmentSize
  entry(RETRANSMIT) := request.retransmit
  entry(UNACKNOWLEDGED).value := 0
  entry(HIGHEST_SENT).value := request.outstanding
  entry(WRITTEN).value := request.outstanding
  entry(OPTIONS).clearAll()
  entry(OPTIONS).sack.allowOverride() := request.blocks
  private val before = entry.insert(request.before)
  private val forget = entry.insert(request.forget)
  private val recovering = entry.insert(request.recovering)
  private val mayRetransmit = entry.insert(request.mayRetransmit)
  private val duplicates = entry.insert(request.duplicates)

  private val board = new SackScoreboard(config, signals, before, forget, nodes)
  private val time =
    LossesByTime(entry.insert(request.waits), entry.insert(request.all), entry.insert(request.lostEnd))
  private val probe = ProbeWanted(entry.insert(request.probeAgain), entry.insert(request.probeNext))
  private val forward = ForwardAllowance(entry.insert(False), entry.insert(U(0, 32 bits)))
  private val estimate = new LossEstimate(
    config, signals,
    LossEvidence(board.ranges, board.highRxt, board.passed, recovering, mayRetransmit, duplicates, time, probe,
      board.heldBefore, forward),
    nodes.drop(5))

  private val exit = nodes.last
  io.response.valid := exit.isValid
  io.response.ranges := exit(board.ranges)
  io.response.highRxt := exit(board.highRxt)
  io.response.passed := exit(board.passed)
  io.response.hasNewSack := exit(board.hasNewSack)
  io.response.firstIsLost := exit(board.firstIsLost)
  io.response.drops := exit(board.drops)
  io.response.retransmitLost := exit(RETRANSMIT_LOST)
  io.response.offset := exit(RETRANSMIT_OFFSET)
  io.response.limit := exit(RETRANSMIT_LIMIT)
  io.response.credit := exit(WINDOW_ALLOWANCE)
  io.response.delivered := exit(DELIVERED)
  io.response.pipe := exit(PIPE)
  Builder(for ((up, down) <- nodes.zip(nodes.tail)) yield StageLink(up, down))
}
