// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.time.Stamp
import downbeat.wire.{LaunchMode, TransmitBeat}
import spinal.core._
import spinal.lib._

/** A frame of a schedule. */
case class ProbeEntry() extends Bundle {
  val gap = UInt(36 bits) // ns from the launch before, or from the start
  val length = UInt(14 bits) // bytes without FCS, 60 at least
  /** Right behind the frame before, whatever the gap. */
  val adjacent = Bool()
}

/** Parameters of a run of probes. */
case class ProbeRun() extends Bundle {
  val destination, source = Bits(48 bits) // first byte of the wire highest
  val flow = UInt(32 bits)
  val entries = UInt(log2Up(ProbePlayer.entries + 1) bits) // entries of the schedule, which repeats
  val frames = UInt(32 bits)
}

/** Sends the frames that `downbeat replay` sends (sw/python/downbeat_toe/gap/probe.py has their format), by a schedule,
  * with launch times for the MAC's gate. The first launch is `lead` and the first entry's gap ahead of the start.
  */
case class ProbePlayer() extends Component {
  import ProbePlayer._
  val io = new Bundle {
    val now = in(Stamp())
    val run = in(ProbeRun()) // stays as it is while one is under way
    val start, stop = in Bool ()
    val write = slave(Flow(ScheduleWrite()))
    val transmit = master(Stream(TransmitBeat()))
    val running = out Bool ()
    val sent = out UInt (32 bits) // frames of the last run that were handed to the MAC
    val launched = out(UInt(48 bits)) // launch of the last one, ns
  }
  noIoPrefix()

  private val schedule = Mem(ProbeEntry(), entries)
  schedule.addAttribute("no_rw_check")
  schedule.write(io.write.address, io.write.entry, io.write.valid)

  private val running = RegInit(False)
  private val sent = Reg(UInt(32 bits)) init 0
  private val index = Reg(UInt(log2Up(entries) bits))
  private val launch = Reg(UInt(48 bits))
  private val settling = Reg(UInt(2 bits)) init 0 // clocks until the entry is there
  private val sending = RegInit(False)
  private val beat = Reg(UInt(11 bits))
  private val entry = RegNext(schedule.readSync(index))

  io.running := running
  io.sent := sent
  io.launched := launch
  when(io.start && !running) {
    running := True
    sent := 0
    index := 0
    launch := io.now.ns + lead
    settling := 3
  }
  when(settling =/= 0)(settling := settling - 1)

  private val next = running && !sending && settling === 0
  private val over = sent === io.run.frames
  private val stopped = RegInit(False) setWhen (io.stop && running)
  when(next) {
    when(over || stopped) {
      running := False
      stopped := False
    } otherwise {
      sending := True
      beat := 0
      launch := launch + entry.gap
    }
  }

  private val head = io.run.destination ## io.run.source ## B(etherType, 16 bits) ## B(magic, 32 bits) ## io.run.flow ##
    sent.resize(64) ## launch.resize(64) ## B(0, 16 bits)
  private val words = head.subdivideIn(64 bits).reverse.map(EndiannessSwap(_)) // highest byte first on the wire
  private val lastBeat = (entry.length - 1) >> 3
  private val outgoing = Stream(TransmitBeat())
  outgoing.valid := sending
  outgoing.frame.data := 0
  for ((word, i) <- words.zipWithIndex) when(beat === i)(outgoing.frame.data := word)
  outgoing.frame.last := beat === lastBeat
  outgoing.frame.keep.setAll()
  private val rest = entry.length(2 downto 0)
  when(outgoing.frame.last && rest =/= 0)(outgoing.frame.keep := ((U(1, 9 bits) |<< rest) - 1).asBits.resized)
  outgoing.mode := entry.adjacent ? LaunchMode.afterPrevious | LaunchMode.at
  outgoing.launch.ns := launch
  outgoing.launch.fraction := 0
  outgoing.lastByte := 0
  outgoing.tag := 0
  when(outgoing.fire) {
    beat := beat + 1
    when(outgoing.frame.last) {
      sending := False
      sent := sent + 1
      index := (index === io.run.entries - 1) ? U(0) | index + 1
      settling := 3
    }
  }
  io.transmit << outgoing.m2sPipe()
}

/** A write to the schedule. */
case class ScheduleWrite() extends Bundle {
  val address = UInt(log2Up(ProbePlayer.entries) bits)
  val entry = ProbeEntry()
}

object ProbePlayer {
  /** Entries of the longest schedule. */
  val entries = 1024
  /** From the start to the launch of an entry without a gap, ns: longer than a frame takes to the gate. */
  val lead = 1 << 20
  private val etherType = 0x88b5
  private val magic = BigInt("DnBt".getBytes("ASCII"))
}
