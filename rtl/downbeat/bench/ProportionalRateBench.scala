// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.config.DownbeatConfig
import downbeat.congestion.CongestionEventKind
import downbeat.engine.pipeline.Signals
import downbeat.engine.transmit.{ProportionalRate, ProportionalRateState, TransmitState, TransmitView}
import downbeat.messages.EventKind
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** An event of a recovery, as transmit sees it. */
case class ProportionalRateRequest(config: DownbeatConfig) extends Bundle {
  val before = ProportionalRateState(config)
  val begins, advanced, retransmits, granted = Bool()
  val delivered = SInt(config.sendOffsetBits + 2 bits)
  val pipe = UInt(config.sendOffsetBits bits)
  val held = UInt(config.windowAllowanceBits bits)
  val outstandingBefore, acked, ssthresh = UInt(32 bits)
  val segmentSize = UInt(16 bits)
  val length = UInt(14 bits) // a grant sends so many bytes
}

case class ProportionalRateResponse(config: DownbeatConfig) extends Bundle {
  val permits = Bool()
  val after = ProportionalRateState(config)
}

/** Test-only module: PRR alone between ports, a request a clock. */
case class ProportionalRateBench(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val request = slave(Flow(ProportionalRateRequest(config)))
    val response = master(Flow(ProportionalRateResponse(config)))
  }
  noIoPrefix()

  private val signals = new Signals(config)
  import signals._
  private val nodes = List.fill(7)(Node())
  private val entry = nodes.head
  private val request = io.request.m2sPipe
  entry.valid := request.valid
  entry(LIVE) := True
  entry(KIND) := EventKind.segment
  entry(LENGTH) := 0
  entry(FLAGS).clearAll()
  entry(PROPORTIONAL) := True
  entry(CONGESTION_KIND) := Mux(request.begins, CongestionEventKind.loss(), CongestionEventKind.none())
  entry(ADVANCED) := request.advanced
  entry(RETRANSMIT) := False
  entry(RETRANSMIT_LOST) := request.retransmits
  entry(DELIVERED) := request.delivered
  entry(PIPE) := request.pipe
  entry(WINDOW_ALLOWANCE) := request.held
  entry(OUTSTANDING_BEFORE) := request.outstandingBefore
  entry(ACKED) := request.acked
  entry(SEGMENT_SIZE) := request.segmentSize
  entry(WINDOW).cwnd := 0
  entry(WINDOW).ssthresh := request.ssthresh @@ U(0, 16 bits)
  private val before = Payload(TransmitState(config))
  entry(before).assignDontCare()
  entry(before).rate.allowOverride() := request.before
  private val granted = entry.insert(request.granted)
  private val length = entry.insert(request.length)

  private val steps = nodes.take(6)
  private val rate = new ProportionalRate(new TransmitView(config, signals, before, steps, nodes.last))
  private val after = rate.after(granted, length)
  private val last = steps.last
  private val outcome = new last.Area {
    val state = insert(after)
  }

  private val exit = nodes.last
  io.response.valid := exit.isValid
  io.response.permits := exit(rate.permits)
  io.response.after := exit(outcome.state)
  Builder(for ((up, down) <- nodes.zip(nodes.tail)) yield StageLink(up, down))
}
