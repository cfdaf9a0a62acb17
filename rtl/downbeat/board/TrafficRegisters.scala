// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.config.DownbeatConfig
import downbeat.lib.BundleLayout
import downbeat.messages.{Command, Refusal}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif._

/** The own registers of a board with the core: commands, what flows are to send, and how they are. */
case class TrafficRegisters(board: Board, config: DownbeatConfig) extends BoardRegisters(board, "traffic") {
  import declare._
  val io = new Bundle {
    val command = master(Stream(Command(config)))
    val supply = master(Stream(TrafficSupply(config)))
    val refused = slave(Flow(Refusal(config)))
    val select = out(UInt(config.flowBits bits))
    val flow = in(TrafficFlow(config))
    val receivedBytes = in(UInt(40 bits))
    val damagedFrames = in(UInt(32 bits))
  }
  noIoPrefix()

  /** A write hands something over; it waits until it is taken. */
  private def handedOver[T <: Data](stream: Stream[T], write: Bool): Unit =
    stream.valid := RegInit(False) clearWhen stream.fire setWhen (RegNext(write) init False)

  // ---- commands: each field of Command, 32 bits a register

  startAt(0x080)
  private val fields = for (field <- BundleLayout.of("Command", io.command.payload).fields) yield {
    val parts =
      for ((low, part) <- (0 until field.width by 32).zipWithIndex)
        yield value(s"command_${field.name}" + (if (part == 0) "" else s"_$part"), 32 min (field.width - low),
          AccessType.WO,
          s"Command's `${field.name}`, bits from $low on.")
    parts.reduce((low, high) => high ## low)
  }
  io.command.payload.assignFromBits(fields.reduce((low, high) => high ## low))
  private val send = register("commandSend", "A write hands the command to the core.")
  send.field(Bool(), AccessType.WO, 0, "Anything.")(SymbolName("value"))
  handedOver(io.command, send.eventW())

  // ---- traffic

  startAt(0x140)
  io.supply.flow := value("supplyFlow", config.flowBits, AccessType.WO, "The flow that is to send.").asUInt
  private val low = value("supplyBytes", 32, AccessType.WO, "How many bytes more, bits 31 to 0.")
  private val supply = register("supply", "A write hands that over.")
  private val high = supply.field(UInt(8 bits), AccessType.WO, 0, "Bytes, bits 39 to 32.")(SymbolName("high"))
  io.supply.closes := supply.field(Bool(), AccessType.WO, 0, "1: the connection is closed then.")(SymbolName("closes"))
  io.supply.bytes := high @@ low.asUInt
  handedOver(io.supply, supply.eventW())
  private val waits = register("waits", "What has not been taken yet.")
  waits.field(Bool(), AccessType.RO, "A command.")(SymbolName("command")) := io.command.valid
  waits.field(Bool(), AccessType.RO, "A supply.")(SymbolName("supply")) := io.supply.valid
  shown("receivedBytes", io.receivedBytes.asBits, "Bytes that all flows have received and read.")
  shown("damagedFrames", io.damagedFrames.asBits, "Frames of these that the memory refused.")

  // ---- flows

  startAt(0x180)
  io.select := value("flowSelect", config.flowBits, AccessType.RW, "The flow that `flow_...` shows.").asUInt
  for (field <- BundleLayout.of("TrafficFlow", io.flow).fields)
    shown(s"flow_${field.name}", io.flow.asBits(field.offset, field.width bits), s"TrafficFlow's `${field.name}`.")
  private val refusals = RegInit(U(0, 16 bits))
  when(io.refused.valid)(refusals := refusals + 1)
  private val refused = register("refused", "The last command that was refused.")
  refused.field(UInt(16 bits), AccessType.RO, "How many were, modulo 2^16.")(SymbolName("count")) := refusals
  refused.field(Bits(8 bits), AccessType.RO, "Why, a number of CloseReason.")(SymbolName("reason")) :=
    RegNextWhen(io.refused.reason.asBits.resize(8), io.refused.valid)

  close()
  def registerMaps: Map[String, Seq[RegInst]] = Map("traffic" -> registers)
}
