// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.wire.DepartureStamp
import spinal.core._
import spinal.lib._

/** Turns a frame into columns of XGMII: preamble, SFD, data, padding, FCS, terminate (IEEE 802.3 clauses 3 and 46). The
  * launch gate keeps the interframe gap.
  *
  * All is built as if frames started in lane 0; a frame of the second slot then goes four lanes later. The gate keeps
  * nine bytes between frames, so no column has parts of two.
  */
case class XgmiiTransmitter() extends Component with WireTransmitter {
  val io = new Bundle {
    val start = slave Flow (LaunchStart(WireRate.tenGigabit))
    /** Asks for the frame's next word, with `start` for the first; `word` holds it three clocks later. */
    val fetch = out Bool ()
    val word = in Bits (64 bits)
    val time = in UInt (TimeBase.bits bits)
    val increment = in UInt (TimeBase.incrementBits bits)
    /** Remote fault in place of idle: the answer to a local one, clause 46.3.4. */
    val remoteFault = in Bool ()
    val column = out(XgmiiColumn())
    /** The stamp of a tagged frame's SFD. */
    val departure = master Flow (DepartureStamp())
  }
  noIoPrefix()
  def start: Flow[LaunchStart] = io.start
  def fetch: Bool = io.fetch
  def word: Bits = io.word
  def time: UInt = io.time
  def departure: Flow[DepartureStamp] = io.departure

  private val frame = RegNextWhen(io.start.payload, io.start.valid)
  private val wordsLeft = Reg(UInt(11 bits)) init 0 // to ask for
  when(wordsLeft =/= 0)(wordsLeft := wordsLeft - 1)
  when(io.start.valid)(wordsLeft := ((io.start.length - 1) >> 3).resized)
  io.fetch := io.start.valid || wordsLeft =/= 0

  // ---- words, padded

  private val running = RegInit(False)
  private val first = RegNext(Delay(io.start.valid, 2, init = False)) init False
  private val bytesLeft, frameLeft = Reg(UInt(14 bits)) // data alone; with padding
  private val last = frameLeft <= 8
  when(running) {
    bytesLeft := (bytesLeft <= 8) ? U(0) | bytesLeft - 8
    frameLeft := frameLeft - 8
    when(last)(running := False)
  }
  when(Delay(io.start.valid, 2, init = False)) {
    running := True
    bytesLeft := frame.length
    frameLeft := LaunchRequest.padded(frame.length)
  }
  private case class Padded() extends Bundle {
    val word = CrcWord()
    val first = Bool()
  }
  private val padded = Flow(Padded())
  padded.valid := running
  padded.first := first
  padded.word.last := last
  padded.word.bytes := last ? frameLeft(3 downto 0) | U(8)
  for (lane <- 0 until 8)
    padded.word.data(8 * lane, 8 bits) := (bytesLeft > lane) ? io.word(8 * lane, 8 bits) | B(0, 8 bits)
  private val entering = padded.stage()

  private val crc = CrcOfWords()
  crc.io.input << entering.translateWith(entering.word)
  private val leading = Delay(entering.payload, CrcOfWords.latency - 1)
  private val leads = Delay(entering.valid, CrcOfWords.latency - 1, init = False)
  private val current = RegNext(leading.word)
  private val hasWord = RegNext(leads) init False

  // ---- columns, as if in lane 0

  /** The last word, FCS and terminate take up to two columns. */
  private val ends = Vec(XgmiiColumn(), 2)
  for (place <- 0 until 16) {
    val (column, lane) = (ends(place / 8), place % 8)
    val data = B(XgmiiColumn.idle, 8 bits)
    column.control(lane) := current.bytes + 4 <= place
    if (place < 8) when(current.bytes > place)(data := current.data(8 * place, 8 bits))
    for (byte <- 0 until 4 if place - byte >= 1 && place - byte <= 8)
      when(current.bytes === place - byte)(data := crc.io.fcs(8 * byte, 8 bits))
    when(current.bytes + 4 === place)(data := XgmiiColumn.terminate)
    column.data(8 * lane, 8 bits) := data
  }
  private val tail = RegNextWhen(ends(1), hasWord)
  private val hasTail = RegNext(hasWord && current.last) init False

  private val column = Reg(XgmiiColumn())
  column := io.remoteFault ? XgmiiColumn.allRemoteFault | XgmiiColumn.allIdle
  when(hasTail)(column := tail)
  when(hasWord) {
    column := ends(0)
    when(!current.last) {
      column.data := current.data
      column.control := 0
    }
  }
  private val begins = leads && leading.first
  when(begins)(column := XgmiiColumn.preamble)

  // ---- lanes

  private val second = RegNextWhen(frame.secondSlot, begins) init False
  private val before = RegNext(column)
  private val pins = Reg(XgmiiColumn())
  pins := second ? column.shifted(before) | column
  io.column := pins

  // The preamble comes to the pins two clocks after `begins`, where `time` is that of its edge.
  private val tag = RegNextWhen(frame.tag, begins)
  private val toSfd = RegNext(second ? TimeBase.eighths(io.increment, WireRate.tenGigabit.toSlot(0, 1)) |
    TimeBase.eighths(io.increment, WireRate.tenGigabit.toSlot(0)).resized)
  io.departure.valid := RegNext(Delay(begins, 2, init = False) && tag =/= 0) init False
  io.departure.tag := tag
  io.departure.stamp := TimeBase.stamp(RegNext(io.time + toSfd))
}

object XgmiiTransmitter {
  /** Three clocks of memory, one of padding, the CRC's, and the pins'; a clock earlier for the preamble. */
  val startToSfd: Int = 3 + 1 + CrcOfWords.latency + 2 - 1
}
