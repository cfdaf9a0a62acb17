// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.DownbeatConfig
import downbeat.engine.{LossEstimate, SackScoreboard, Scoreboard, Signals}
import downbeat.wire.SackBlock
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** An ACK, and what recovery knew before it. */
case class ScoreboardQuestion(config: DownbeatConfig) extends Bundle {
  val before = Scoreboard(config)
  val forget, recovering, mayRepeat, retransmit = Bool()
  val selective = Bool()
  val duplicates = UInt(2 bits)
  val acked = UInt(32 bits)
  val segmentSize = UInt(16 bits)
  val blocks = Vec.fill(4)(SackBlock(config.sendOffsetBits))
}

case class ScoreboardAnswer(config: DownbeatConfig) extends Bundle {
  val ranges = Vec.fill(DownbeatConfig.ranges)(SackBlock(config.sendOffsetBits))
  val resentTo, passed = UInt(config.sendOffsetBits bits)
  val isNews, firstIsLost = Bool()
  val retransmitLost = Bool()
  val offset, limit = UInt(config.sendOffsetBits bits)
  val credit = UInt(config.creditBits bits)
}

/** Test-only room: recovery's scoreboard alone between ports, a question a clock. */
case class ScoreboardBench(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val question = slave(Flow(ScoreboardQuestion(config)))
    val answer = master(Flow(ScoreboardAnswer(config)))
  }
  noIoPrefix()

  private val signals = new Signals(config)
  import signals._
  private val nodes = List.fill(13)(Node())
  private val entry = nodes.head
  private val question = io.question.m2sPipe
  entry.valid := question.valid
  entry(ACKED) := question.acked
  entry(SELECTIVE) := question.selective
  entry(ADVANCED) := question.acked.orR
  entry(REPEATED) := !question.acked.orR
  entry(SEGMENT_SIZE) := question.segmentSize
  entry(RETRANSMIT) := question.retransmit
  entry(OPTIONS).clearAll()
  entry(OPTIONS).sack.allowOverride() := question.blocks
  private val before = entry.insert(question.before)
  private val forget = entry.insert(question.forget)
  private val recovering = entry.insert(question.recovering)
  private val mayRepeat = entry.insert(question.mayRepeat)
  private val duplicates = entry.insert(question.duplicates)

  private val Seq(s0, s1, s2, s3, s4) = nodes.take(5)
  private val board = new SackScoreboard(config, signals, before, forget, s0, s1, s2, s3, s4)
  private val estimate = new LossEstimate(
    config, signals, board.ranges, board.resentTo, board.passed, recovering, mayRepeat, duplicates, nodes.drop(5))

  private val exit = nodes.last
  io.answer.valid := exit.isValid
  io.answer.ranges := exit(board.ranges)
  io.answer.resentTo := exit(board.resentTo)
  io.answer.passed := exit(board.passed)
  io.answer.isNews := exit(board.isNews)
  io.answer.firstIsLost := exit(board.firstIsLost)
  io.answer.retransmitLost := exit(RETRANSMIT_LOST)
  io.answer.offset := exit(RETRANSMIT_OFFSET)
  io.answer.limit := exit(RETRANSMIT_LIMIT)
  io.answer.credit := exit(CREDIT)
  Builder(for ((up, down) <- nodes.zip(nodes.tail)) yield StageLink(up, down))
}
