// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.lib.BundleLayout
import downbeat.mac.MacCounters
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif._

/** A gap bench's own registers: the probes and the capture. */
case class ProbeRegisters(board: Board) extends BoardRegisters(board, "probes") {
  import declare._
  val io = new Bundle {
    val counters = in(MacCounters(32))
    val probes = new Bundle {
      val run = out(ProbeRun())
      val write = master(Flow(ScheduleWrite()))
      val start, stop = out(Bool())
      val running = in(Bool())
      val sent = in(UInt(32 bits))
      val launched = in(UInt(48 bits))
    }
    val capture = new Bundle {
      val enable = out(Bool())
      val words = slave(Stream(Bits(64 bits)))
      val level = in(UInt(log2Up(board.captureWords + 1) bits))
      val lost = in(UInt(32 bits))
    }
  }
  noIoPrefix()

  // ---- probes

  startAt(0x080)
  constant("probeEntries", ProbePlayer.entries, "Entries of the longest schedule.")
  io.probes.write.address := register("probeIndex", "Place in the schedule.")
    .field(UInt(log2Up(ProbePlayer.entries) bits), AccessType.RW, 0, "From 0.")(SymbolName("value"))
  private val gapLow = value("probeGap", 32, AccessType.RW, "ns from the launch before: bits 31 to 0.")
  private val entry = register("probeEntry", "A write puts this entry to `probeIndex`.")
  io.probes.write.entry.length := entry.field(UInt(14 bits), AccessType.RW, 0, "Bytes without FCS, 60 at least.")(
    SymbolName("length"))
  io.probes.write.entry.adjacent := entry.field(Bool(), AccessType.RW, 0, "1: right behind the frame before.")(
    SymbolName("adjacent"))
  private val gapHigh = entry.field(UInt(4 bits), AccessType.RW, 0, "Gap, bits 35 to 32.")(SymbolName("gapHigh"))
  io.probes.write.entry.gap := gapHigh @@ gapLow.asUInt
  io.probes.write.valid := RegNext(entry.eventW()) init False
  private def mac(name: String, what: String): Bits =
    value(s"${name}High", 16, AccessType.RW, s"$what: its first two bytes on the wire, the first one higher.") ##
      value(s"${name}Low", 32, AccessType.RW, s"$what: the other four.")
  io.probes.run.destination := mac("probeDestination", "MAC address that probes go to")
  io.probes.run.source := mac("probeSource", "MAC address that probes come from")
  io.probes.run.flow := value("probeFlow", 32, AccessType.RW, "Number of the flow in each probe.").asUInt
  io.probes.run.entries := value("probeUsed", widthOf(io.probes.run.entries), AccessType.RW,
    "Entries of the schedule, 1 at least.").asUInt
  io.probes.run.frames := value("probeFrames", 32, AccessType.RW, "Frames of a run.").asUInt
  private val control = register("probeControl", "Runs the schedule.")
  io.probes.start := control.field(Bool(), AccessType.W1P, 0, "1: start, unless one is under way.")(SymbolName("start"))
  io.probes.stop := control.field(Bool(), AccessType.W1P, 0, "1: stop behind the present frame.")(SymbolName("stop"))
  private val status = register("probeStatus", "How the run is.")
  status.field(Bool(), AccessType.RO, "One is under way.")(SymbolName("running")) := io.probes.running
  shown("probeSent", io.probes.sent.asBits, "Frames of the run that were handed to the MAC.")
  shown("probeLaunched", io.probes.launched.asBits, "Launch of the last one, ns.")

  // ---- capture

  startAt(0x0c0)
  constant("captureRecordWords", CapturePort.recordWords, "Words of 64 bits of a captured frame's record.")
  io.capture.enable :=
    register("captureControl", "The capture.").field(Bool(), AccessType.RW, 0, "1: frames are recorded.")(
      SymbolName("enable"))
  shown("captureLevel", io.capture.level.asBits, "Words of 64 bits that wait.")
  shown("captureLost", io.capture.lost.asBits, "Frames without a record, modulo 2^32.")
  private val data =
    register("captureData", "Each read takes half a word, the lower half first. Made for LiteX's fixed burst.")
  private val upper = RegInit(False)
  data.field(Bits(32 bits), AccessType.RO, "0: nothing waits.")(SymbolName("value")) :=
    (upper ? io.capture.words.payload(63 downto 32) | io.capture.words.payload(31 downto 0)).andMask(
      io.capture.words.valid)
  private val taken = data.hitDoRead && io.capture.words.valid
  when(taken)(upper := !upper)
  io.capture.words.ready := taken && upper

  // ---- counters of frames

  startAt(0x100)
  for (field <- BundleLayout.of("MacCounters", io.counters).fields) {
    val meaning = if (field.name.endsWith("Lateness")) "ns, since reset; all ones: that or more."
    else "Frames since reset, modulo 2^32."
    shown(s"counter_${field.name}", io.counters.asBits(field.offset, field.width bits), meaning)
  }

  close()
  def registerMaps: Map[String, Seq[RegInst]] = Map("probe" -> registers)
}
