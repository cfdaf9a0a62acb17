// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.time.Stamp
import downbeat.wire.DepartureStamp
import spinal.core._
import spinal.lib._
import spinal.lib.com.eth.{Crc, CrcKind}

/** A frame whose first byte of preamble goes out now. */
case class LaunchStart(rate: WireRate) extends Bundle {
  val length = UInt(14 bits) // bytes without FCS
  val tag = UInt(16 bits)
  /** Its SFD is in the second slot of its clock. */
  val secondSlot = (rate.slotsPerClock == 2) generate Bool()
}

/** Serialises a frame to GMII bytes: preamble, SFD, data, padding, FCS (IEEE 802.3 clause 3). The launch gate keeps the
  * interframe gap.
  *
  * The SFD is on the pins `WireRate.startToSfd` clocks after `start`.
  */
case class GmiiTransmitter() extends Component with WireTransmitter {
  val io = new Bundle {
    val start = slave Flow (LaunchStart(WireRate.gigabit))
    /** Asks for the frame's next word, with `start` for the first; `word` holds it from four clocks later until the
      * next is asked for.
      */
    val fetch = out Bool ()
    val word = in Bits (64 bits)
    val time = in UInt (TimeBase.bits bits)
    val gmii = out(GmiiSymbol())
    /** The stamp of a tagged frame's SFD. */
    val departure = master Flow (DepartureStamp())
  }
  noIoPrefix()
  def start: Flow[LaunchStart] = io.start
  def fetch: Bool = io.fetch
  def word: Bits = io.word
  def time: UInt = io.time
  def departure: Flow[DepartureStamp] = io.departure

  private object Phase extends SpinalEnum {
    val idle, preamble, data, pad, fcs = newElement()
  }
  import Phase._

  private val phase = RegInit(idle)
  private val frame = RegNextWhen(io.start.payload, io.start.valid)
  private val short = RegNextWhen(io.start.length < Ethernet.minimumBytes, io.start.valid)
  private val left = Reg(UInt(14 bits)) // bytes of the phase
  private val isLast = left === 1
  private def enter(next: Phase.E, bytes: UInt): Unit = {
    phase := next
    left := bytes.resized
  }

  private val crc = Crc(CrcKind.Crc32, 8)
  private val fcsRest = Reg(Bits(24 bits))
  private val shift = Reg(Bits(56 bits))
  private val lane = Reg(UInt(3 bits))
  private val fromWord = lane === 0
  private val dataByte = fromWord ? io.word(7 downto 0) | shift(7 downto 0)

  private val byte = Bits(8 bits)
  byte := Ethernet.preamble
  private val startOfFrame = phase === preamble && isLast
  when(startOfFrame)(byte := Ethernet.startOfFrame)
  left := left - 1

  when(phase === preamble) {
    lane := 0
    when(isLast)(enter(data, frame.length))
  }
  when(phase === data) {
    byte := dataByte
    lane := lane + 1
    shift := fromWord ? io.word(63 downto 8) | shift(55 downto 8).resized
    when(isLast) {
      when(short)(enter(pad, U(Ethernet.minimumBytes) - frame.length)).otherwise(enter(fcs, U(Ethernet.fcsBytes)))
    }
  }
  when(phase === pad) {
    byte := 0
    when(isLast)(enter(fcs, U(Ethernet.fcsBytes)))
  }
  private val firstOfFcs = left === Ethernet.fcsBytes
  when(phase === fcs) {
    byte := firstOfFcs ? crc.io.result(7 downto 0) | fcsRest(7 downto 0)
    fcsRest := firstOfFcs ? crc.io.result(31 downto 8) | fcsRest(23 downto 8).resized
    when(isLast)(phase := idle)
  }
  when(io.start.valid)(enter(preamble, U(Ethernet.preambleBytes)))

  crc.io.flush := io.start.valid
  crc.io.input.valid := phase === data || phase === pad
  crc.io.input.payload := (phase === pad) ? B(0, 8 bits) | dataByte
  io.fetch := io.start.valid || phase === data && fromWord

  io.gmii.data := RegNext(byte)
  io.gmii.valid := RegNext(io.start.valid || phase =/= idle) init False
  io.gmii.error := False

  // `time` is that of the edge at which the SFD came to the pins.
  io.departure.valid := RegNext(startOfFrame && frame.tag =/= 0) init False
  io.departure.tag := frame.tag
  io.departure.stamp := TimeBase.stamp(io.time)
}
