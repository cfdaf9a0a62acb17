// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.config.DownbeatConfig
import downbeat.congestion.{DeliverySample, Window}
import downbeat.engine.measure.DeliveryMeter
import downbeat.engine.pipeline.{EnginePipeline, Signals}
import downbeat.messages.EventKind
import downbeat.time.Instant
import downbeat.wire.{SackBlock, SequenceNumber, TcpFlags}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** An event, with the connection's values after it. */
case class DeliveryRequest(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val kind = EventKind()
  val established = Bool()
  /** The first number of a segment that leaves; one past the last of one that departed. */
  val sequence = SequenceNumber()
  val length = UInt(16 bits)
  val fin, resent, probe = Bool()
  val unacknowledged, highestSent, written = SequenceNumber()
  /** The ACK is acceptable, and moves SND.UNA by so much; its first two blocks, from SND.UNA. */
  val acknowledges = Bool()
  val acked = UInt(32 bits)
  val selective = Bool()
  val blocks = Vec.fill(2)(SackBlock(config.sendOffsetBits))
  val delivered = SInt(config.sendOffsetBits + 2 bits)
  val lost, pipe = UInt(config.sendOffsetBits bits)
  val cwnd = UInt(31 bits)
  val rttMinimum = UInt(36 bits)
  val now, stamp = Instant()
}

/** Test-only module: the delivery meter alone between ports. Requests of one flow eight clocks apart. */
case class DeliveryBench(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val request = slave(Flow(DeliveryRequest(config)))
    val response = master(Flow(DeliverySample()))
  }
  noIoPrefix()

  private val signals = new Signals(config)
  import signals._
  private val pipeline = new EnginePipeline(config.eventSpacing, config.ecc)
  private val entry = pipeline.entry
  private val request = io.request.m2sPipe
  entry.valid := request.valid
  entry(FLOW) := request.flow
  entry(KIND) := request.kind
  entry(LIVE) := True
  entry(OPENING) := False
  entry(ESTABLISHED) := request.established
  entry(SEQUENCE) := request.sequence
  entry(LENGTH) := request.length.resized
  private val flags = TcpFlags()
  flags.clearAll()
  flags.fin.allowOverride() := request.fin
  entry(FLAGS) := flags
  entry(RESENT) := request.resent
  entry(TAIL_PROBE) := request.probe
  entry(UNACKNOWLEDGED) := request.unacknowledged
  entry(HIGHEST_SENT) := request.highestSent
  entry(WRITTEN) := request.written
  entry(OUTSTANDING) := request.highestSent.since(request.unacknowledged)
  entry(ADVANCED) := request.acknowledges && request.acked.orR
  entry(ACKED) := request.acked
  entry(REPEATED) := request.acknowledges && !request.acked.orR
  entry(SELECTIVE) := request.selective
  entry(OPTIONS).clearAll()
  for ((block, given) <- entry(OPTIONS).sack.zip(request.blocks)) {
    block.allowOverride()
    block := given
  }
  entry(SEGMENT_SIZE) := 1460
  entry(RTT_MINIMUM) := request.rttMinimum
  entry(NOW) := request.now
  entry(STAMP).fraction := 0
  entry(STAMP).ns := request.stamp.ns
  entry(DELIVERED) := request.delivered
  entry(LOST) := request.lost
  entry(PIPE) := request.pipe
  private val before = Window()
  before.cwnd := Window.ofBytes(request.cwnd)
  before.ssthresh := 0
  private val window = entry.insert(before)

  private val steps = pipeline.nodes.slice(2, 8)
  new DeliveryMeter(config, pipeline, signals, steps, window)
  private val sampled = pipeline.nodes(10)
  io.response.valid := sampled.isValid
  io.response.payload := sampled(DELIVERY)
  pipeline.build()
}
