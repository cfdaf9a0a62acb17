// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.config.DownbeatConfig
import downbeat.wire.EtherType
import spinal.core._
import spinal.lib._

/** Columns of XGMII to words of eight bytes, from behind the SFD to the end of the FCS (IEEE 802.3 clauses 3 and 46),
  * in the receive clock's domain.
  *
  * A frame starts in lane 0 or 4 and its SFD is seven bytes later; it ends with any control character but an error. All
  * but terminate make it damaged.
  */
case class XgmiiReceiver(config: DownbeatConfig) extends Component with WireReceiver {
  val io = new Bundle {
    val column = in(XgmiiColumn())
    val linkUp = in Bool ()
    /** The pins carried an SFD, `XgmiiReceiver.sfdToStart` clocks and one before. */
    val startOfFrame = out Bool ()
    /** With it: the frame started in lane 4. */
    val secondSlot = out Bool ()
    /** Words of a frame; the last may be the FCS's alone. Byte 0 of the wire is in bits 7 to 0. */
    val word = master Flow (Bits(64 bits))
    /** With the third word: the frame does not go to the core. */
    val stays = out Bool ()
    /** One for each SFD, with its last word or after it, and before the next one's first. */
    val end = master Flow (ReceivedEnd())
    val localFault, remoteFault = out Bool ()
  }
  noIoPrefix()
  def linkUp: Bool = io.linkUp
  def startOfFrame: Bool = io.startOfFrame
  def word: Flow[Bits] = io.word
  def stays: Bool = io.stays
  def end: Flow[ReceivedEnd] = io.end

  private val fault = LinkFault()
  fault.io.column := io.column
  io.localFault := fault.io.local
  io.remoteFault := fault.io.remote

  // ---- to lane 0

  private val newest = RegNext(io.column)
  private val column = RegNext(newest)
  private def starts(lane: Int) = RegNext(newest.is(lane, XgmiiColumn.start)) init False
  private val startsFirst = starts(0)
  private val startsSecond = starts(4)
  private val secondBefore = Reg(Bool())
  private val second = !startsFirst && (startsSecond || secondBefore)
  secondBefore := second
  private val aligned = RegNext(second ? newest.shifted(column) | column)
  private val isStart = RegNext(startsFirst || startsSecond) init False
  private val isSecond = RegNext(second)

  // ---- a column's contents

  private val lanes = 0 until 8
  private val isError = lanes.map(aligned.is(_, XgmiiColumn.error))
  private val isEnd = lanes.map(lane => aligned.control(lane) && !isError(lane))
  private case class Seen() extends Bundle {
    val data = Bits(64 bits)
    val bytes = UInt(4 bits) // before the end; eight if it does not end here
    val ends, terminates, error = Bool()
    val start, second = Bool()
  }
  private val seen = Seen()
  seen.data := aligned.data
  seen.bytes := 8
  seen.terminates := False
  for (lane <- lanes.reverse) when(isEnd(lane)) {
    seen.bytes := lane
    seen.terminates := aligned.byte(lane) === XgmiiColumn.terminate
  }
  seen.ends := isEnd.orR
  // An error in the preamble counts too.
  private val over = lanes.map(lane => lanes.take(lane).map(isEnd(_)).foldLeft(False)(_ || _))
  seen.error := lanes.drop(1).map(lane => isError(lane) && (isStart || !over(lane))).orR || isError(0)
  seen.start := isStart && !isEnd.drop(1).orR && !aligned.control(7) && aligned.byte(7) === Ethernet.startOfFrame
  seen.second := isSecond
  private val now = RegNext(seen)
  private val breaks = RegNext(isStart) init False
  private val begins = RegNext(seen.start) init False

  // ---- the frame

  private val inFrame = RegInit(False)
  private val ended = inFrame && (now.ends || breaks)
  when(ended || breaks)(inFrame := False)
  when(begins)(inFrame := True)
  io.startOfFrame := begins
  io.secondSlot := now.second

  private val limit = config.maximumFrameBytes
  private val limitWords = (limit + Ethernet.tagBytes + 7) / 8
  private val words = Reg(UInt(11 bits)) // whole ones, with FCS; stops behind the largest
  private val error, wasDown, tagged, pause = Reg(Bool())
  when(inFrame) {
    when(words <= limitWords)(words := words + 1)
    when(now.error)(error := True)
    when(words === 1) {
      val etherType = EndiannessSwap(now.data(47 downto 32))
      tagged := etherType === EtherType.tag
      pause := etherType === EtherType.macControl
    }
  }
  when(begins) {
    words := 0
    error := now.error
    wasDown := !io.linkUp
    tagged := False
    pause := False
  }

  private val crc = CrcOfWords()
  crc.io.input.valid := inFrame
  crc.io.input.data := now.data
  crc.io.input.bytes := now.bytes
  crc.io.input.last := ended

  // The end comes when the CRC is known, the words wait for it.
  private val delay = CrcOfWords.latency + 1
  io.word.valid := Delay(inFrame && now.bytes =/= 0 && words < limitWords, delay, init = False)
  io.word.payload := Delay(now.data, delay)
  io.stays := RegNext(wasDown || pause)

  private val length = RegNext((words << 3).resize(14) + now.bytes)
  private val beyond = RegNext(tagged ? U(limit + Ethernet.tagBytes, 14 bits) | U(limit, 14 bits))
  private val down = RegNext(wasDown)
  private val damaged = RegNext(error || now.error || breaks || !now.terminates)
  private val isPause = RegNext(pause)
  private val rest = CrcOfWords.latency - 1
  private val verdict =
    ReceivedEnd.of(length = Delay(length - Ethernet.fcsBytes, rest), linkDown = Delay(down, rest),
      rxError = Delay(damaged, rest), runt = Delay(length < Ethernet.minimumBytes + Ethernet.fcsBytes, rest),
      oversize = Delay(length > beyond, rest), badFcs = crc.io.fcs =/= Ethernet.residue, pause = Delay(isPause, rest))
  io.end.valid := Delay(ended, delay, init = False)
  io.end.payload := RegNext(verdict)
}

object XgmiiReceiver {
  /** Clocks from the pins' to the receiver's start of a frame, more than a GMII receiver has. */
  val sfdToStart: Int = 3
}
