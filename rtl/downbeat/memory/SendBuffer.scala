// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import downbeat.lib.Tally
import downbeat.messages.{ApplicationBeat, ApplicationEvent, EventKind, FlowPosition}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.{Axi4SpecRenamer, Axi4WriteOnly}

/** Takes application data into the send buffers: [acknowledged, written) of each flow is in memory, and there is space
  * up to acknowledged + the buffer's size. Owns `written`.
  *
  * What does not fit is dropped to the end of its frame and counted, never waited for. `written` comes after the
  * responses of a frame and says how many of its bytes were taken; a frame of which nothing was taken has none.
  */
case class SendBuffer(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val data = slave(Stream(ApplicationBeat(config)))
    /** The first sequence number of the flow's data. */
    val opened = slave(Flow(FlowPosition(config)))
    /** All data before it is acknowledged. */
    val acknowledged = slave(Flow(FlowPosition(config)))
    val axi = master(Axi4WriteOnly(MemoryPort.config(config)))
    val written = master(Stream(ApplicationEvent(config)))
    /** `written` waits. */
    val hold = in(Bool())
    /** Frames that have begun, and those whose `written` was taken, if they had any; since reset, modulo 256. */
    val begun, framesReported = out(UInt(ApplicationBeat.frameCountBits bits))
    /** Frames cut, since reset. */
    val overruns = out(UInt(config.counterBits bits))
    /** Chunks whose write the memory refused. */
    val writeErrors = out(UInt(config.counterBits bits))
    val idle = out(Bool())
  }
  noIoPrefix()
  Axi4SpecRenamer(io.axi)

  private val gatherer = FrameGatherer(config)
  gatherer.io.data << io.data
  io.begun := gatherer.io.begun

  private val admission = ChunkAdmission(config)
  admission.io.chunks << gatherer.io.chunks
  admission.io.opened << io.opened
  admission.io.acknowledged << io.acknowledged
  private val admitted = admission.io.admitted.halfPipe()
  private val (moving, cutting, reporting) = StreamFork3(admitted)

  private val writer = BurstWriter(config, config.sendBufferBytes, base = 0)
  writer.io.transfers << moving.map(_.transfer)
  writer.io.axi >> io.axi

  // The words of a chunk that was cut are drained here.
  private val cut = cutting.s2mPipe().m2sPipe(holdPayload = true)
  private val words = gatherer.io.words.continueWhen(cut.valid)
  private val index = Reg(UInt(MemoryPort.pageWordBits(config) bits)) init 0
  private val lastWord = index === cut.words
  when(words.fire)(index := lastWord ? U(0) | index + 1)
  cut.ready := words.fire && lastWord
  writer.io.words << words.throwWhen(!(index < cut.wordsTaken)).m2sPipe(holdPayload = true)

  private val reports = reporting.queue(16, latency = 1)
  private val report = reports.halfPipe()
  private val moved = report.transfer.length =/= 0
  private val reported = report.continueWhen(!moved || writer.io.done.valid)
  writer.io.done.ready := reported.fire && moved
  private val failed = moved && writer.io.done.payload
  private val failedBefore = RegInit(False) // an earlier chunk of the frame
  when(reported.fire)(failedBefore := !report.last && (failed || failedBefore))
  private val ended = reported.takeWhen(report.last).map { frame =>
    val end = FrameEnd(config)
    end.counts := frame.frameTaken =/= 0
    end.event.kind := EventKind.written
    end.event.flow := frame.transfer.flow
    end.event.length := frame.frameTaken.resized
    end.event.urgent := frame.urgent
    end.event.memoryError := failed || failedBefore
    end
  }.halfPipe()
  io.written << ended.takeWhen(ended.counts).map(_.event).haltWhen(io.hold)
  private val framesReported = Reg(UInt(ApplicationBeat.frameCountBits bits)) init 0
  when(RegNext(ended.fire) init False)(framesReported := framesReported + 1)
  io.framesReported := framesReported

  io.writeErrors := Tally(writer.io.done.fire && writer.io.done.payload, config.counterBits)
  io.overruns := admission.io.overruns

  io.idle := gatherer.io.idle && admission.io.idle && !admitted.valid && !cut.valid && !reports.valid && !report.valid && writer.io.idle &&
    !ended.valid
}

/** A frame's part of the event for the engine, unless nothing of it was taken. */
private case class FrameEnd(config: DownbeatConfig) extends Bundle {
  val counts = Bool()
  val event = ApplicationEvent(config)
}
