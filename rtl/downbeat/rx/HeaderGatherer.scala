// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.time.Stamp
import downbeat.wire.{EtherType, SequenceNumber, TcpFlags}
import spinal.core._
import spinal.lib._

/** The header fields of a frame, not checked. Positions count 32-bit words as FrameWindow does. */
case class FrameHeader() extends Bundle {
  val stamp = Stamp()
  val sourceMac = Bits(48 bits)
  val tagged = Bool() // one 802.1Q tag
  val version = UInt(4 bits)
  val headerLength = UInt(4 bits) // words
  val congestionExperienced = Bool() // RFC 3168 5: the ECN field is 11
  val totalLength = UInt(16 bits) // bytes from the IP header on
  val fragment = Bool()
  val sourceIp = UInt(32 bits)
  val sourcePort = UInt(16 bits)
  val destinationPort = UInt(16 bits)
  val sequence = SequenceNumber()
  val acknowledgment = SequenceNumber()
  val dataOffset = UInt(4 bits) // words
  val flags = TcpFlags()
  val window = UInt(16 bits)
  val urgentPointer = UInt(16 bits)
  /** Payload or FIN follows, if the lengths are right. */
  val carries = Bool()
  /** The words at which the TCP header begins and ends: IP's begins at word 4, or 5 behind a tag. */
  val tcpStart = UInt(6 bits)
  val payloadStart = UInt(6 bits)
}

/** Gathers the header fields of the passing frame. The number of the word enables the field's register. All fields and
  * lengths are valid at the last window, until the next frame overwrites them.
  */
case class HeaderGatherer(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val start = slave Flow (FrameStart())
    val windows = slave Flow (FrameWindow(config))
    val header = out(FrameHeader())
    /** The header ends in the window that passes, or before it. Not valid before word 10. */
    val ends = out Bool ()
  }
  noIoPrefix()

  private val header = Reg(FrameHeader())
  io.header := header

  when(io.start.valid)(header.stamp := io.start.stamp)

  private val ethernet = new WordPicker(io.windows, io.windows.pair, False)
  when(ethernet.passes(2))(header.sourceMac(47 downto 16) := ethernet.word(2))
  when(ethernet.passes(3)) {
    header.sourceMac(15 downto 0) := ethernet.word(3)(31 downto 16)
    header.tagged := ethernet.word(3)(15 downto 0) === EtherType.tag
  }

  private val ip = new WordPicker(io.windows, io.windows.pair, header.tagged)
  when(ip.passes(4)) {
    val length = ip.word(4)(27 downto 24).asUInt
    header.version := ip.word(4)(31 downto 28).asUInt
    header.headerLength := length
    header.congestionExperienced := ip.word(4)(17 downto 16).andR
    header.totalLength := ip.word(4)(15 downto 0).asUInt
    header.tcpStart := length.resize(6) + (header.tagged ? U(5) | U(4))
  }
  // More fragments, or not the first one: bit 14 ("do not") and the reserved bit 15 do not matter (RFC 791 3.1).
  when(ip.passes(5))(header.fragment := ip.word(5)(13 downto 0).orR)
  when(ip.passes(7))(header.sourceIp := ip.word(7).asUInt)

  private val tcpWords = RegNext(header.totalLength(15 downto 2) - header.headerLength)

  // Counts from the window in which the TCP header begins; before that it is far too large.
  private val nextTcpPair = io.windows.pair + 1 - header.tcpStart(5 downto 1)
  private val tcpPair = RegNextWhen(nextTcpPair, io.windows.valid)
  private val tcp = new WordPicker(io.windows, tcpPair, header.tcpStart.lsb)
  when(tcp.passes(0)) {
    header.sourcePort := tcp.word(0)(31 downto 16).asUInt
    header.destinationPort := tcp.word(0)(15 downto 0).asUInt
  }
  when(tcp.passes(1))(header.sequence.value := tcp.word(1).asUInt)
  when(tcp.passes(2))(header.acknowledgment.value := tcp.word(2).asUInt)
  private val lastPair = Reg(UInt(5 bits)) // the header's
  when(tcp.passes(3)) {
    val offset = tcp.word(3)(31 downto 28).asUInt
    header.dataOffset := offset
    header.flags.assignFromBits(tcp.word(3)(23 downto 16))
    header.window := tcp.word(3)(15 downto 0).asUInt
    header.carries := tcpWords =/= offset || header.totalLength(1 downto 0) =/= 0 || tcp.word(3)(16) // FIN
    header.payloadStart := header.tcpStart + offset
    lastPair := ((header.tcpStart + offset - 1) >> 1).resized
  }
  when(tcp.passes(4))(header.urgentPointer := tcp.word(4)(15 downto 0).asUInt)

  // The header ends where word 4 passes, or behind it. Known a clock ahead; but if the first word is odd, word 3, which
  // says where, passes together with word 4.
  private val offset = tcp.word(3)(31 downto 28).asUInt
  private val endsNext = tcp.passes(3) ?
    !((header.tcpStart.lsb ? U(7) | U(6)) < offset) |
    (!tcpPair.msb && tcpPair =/= 0 && !(io.windows.pair + 1 < lastPair))
  private val endsHere = RegNextWhen(endsNext, io.windows.valid)
  private val passesTogether = RegNextWhen(nextTcpPair === 2 && header.tcpStart.lsb, io.windows.valid)
  io.ends := passesTogether ? io.windows.isShort | endsHere
}
