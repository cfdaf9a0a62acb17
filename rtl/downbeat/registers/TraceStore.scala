// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.registers

import downbeat.config.DownbeatConfig
import downbeat.messages.TraceRecord
import spinal.core._
import spinal.lib._

/** Selects a record. */
case class RecordRequest() extends Bundle {
  /** From the log; otherwise the last one of a flow. */
  val log = Bool()
  /** How many records ago, the newest is 0; or the flow. */
  val index = UInt(16 bits)
}

/** Keeps trace records: the last record of each flow that met a connection, and the last `logRecords` of all. It exists
  * only in a build where `logRecords` is not 0. The records survive the core's reset.
  */
case class TraceStore(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val trace = slave(Flow(TraceRecord(config)))
    /** The log stands still. */
    val frozen = in(Bool())
    /** Records in the log. */
    val logged = out(UInt(log2Up(config.logRecords + 1) bits))
    val request = slave(Flow(RecordRequest()))
    /** The record requested last, and whether there is such a record. */
    val record = out(TraceRecord(config))
    val found = out(Bool())
    /** From the clock after a request until `record` and `found` are its response. */
    val busy = out(Bool())
  }
  noIoPrefix()

  private val trace = io.trace.m2sPipe(holdPayload = true)
  private val request = io.request.m2sPipe(holdPayload = true)

  /** The last record of each flow. */
  private val flows = new Area {
    private case class LastRecord() extends Bundle {
      val seen = Bool()
      val record = TraceRecord(config)
    }
    // Swept after reset, which takes no longer than the engine's own sweep: no event can come before.
    private val sweep = Reg(UInt(config.flowBits + 1 bits)) init 0
    private val sweeping = !sweep.msb
    when(sweeping)(sweep := sweep + 1)

    private val memory = RecordMemory(LastRecord(), config.flows)
    memory.io.write.valid := sweeping || trace.valid && trace.live
    memory.io.write.address := sweeping ? sweep.resize(config.flowBits) | trace.reference.flow
    memory.io.write.record.seen := !sweeping
    memory.io.write.record.record := trace.payload
    memory.io.read.valid := request.valid && !request.log
    memory.io.read.payload := request.index.resized

    private val exists = RegNext(!(request.index >> config.flowBits).orR)
    val valid = memory.io.response.valid
    val record = memory.io.response.record
    val found = memory.io.response.seen && exists
    val busy = memory.io.busy
  }

  /** The last records of all. */
  private val log = new Area {
    private val indexBits = log2Up(config.logRecords)
    private val next = Reg(UInt(indexBits bits)) init 0
    val logged = Reg(UInt(indexBits + 1 bits)) init 0
    private val memory = RecordMemory(TraceRecord(config), config.logRecords)
    memory.io.write.valid := trace.valid && !io.frozen
    memory.io.write.address := next
    memory.io.write.record := trace.payload
    when(memory.io.write.valid) {
      next := next + 1
      when(!logged.msb)(logged := logged + 1)
    }
    memory.io.read.valid := request.valid && request.log
    memory.io.read.payload := next - 1 - request.index.resize(indexBits)

    val valid = memory.io.response.valid
    val record = memory.io.response.payload
    val found = RegNextWhen(request.index < logged, request.valid)
    val busy = memory.io.busy
  }
  io.logged := log.logged

  io.record := RegNextWhen(log.valid ? log.record | flows.record, log.valid || flows.valid)
  private val found = RegInit(False)
  when(flows.valid)(found := flows.found)
  when(log.valid)(found := log.found)
  io.found := found
  io.busy := request.valid || flows.busy || log.busy
}
