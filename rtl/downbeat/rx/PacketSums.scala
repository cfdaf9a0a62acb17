// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._

/** The two checksums of a packet, in one pass (RFC 1071): a ones' complement sum with its checksum in it is 0xffff.
  *
  * Whole 32-bit words are added, carries kept above; 2^16 and 2^32 are both 1 modulo 0xffff, so folding once at the end
  * gives the sum of the halves. IP: the words of its header. TCP (RFC 9293 3.1): the words behind that header, plus the
  * pseudo header: source and destination, taken from the IP header as they pass, protocol 6 and the TCP length.
  */
case class PacketSums(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val windows = slave Flow (FrameWindow(config))
    val header = in(FrameHeader())
    /** The frame whose last window passes wants a verdict. */
    val last = in Bool ()
    /** Its TCP length, bytes: needed three clocks after `last`. */
    val tcpLength = in UInt (16 bits)
    /** Five clocks after `last`: from the next clock on, and until the next `settling`, the results hold. */
    val settling = out Bool ()
    val ipRight, tcpRight = out Bool ()
  }
  noIoPrefix()

  private val header = io.header
  private val pair = io.windows.pair

  // The packet's end: whole words up to `end`, then `rest` bytes. Stands from pair 4 on; the words before that all lie
  // in any IP header.
  private val end = RegNext(header.totalLength(15 downto 2) +^ (header.tagged ? U(5) | U(4)))
  private val rest = header.totalLength(1 downto 0)
  private val early = pair < 4

  private case class Lane(number: Int) extends Area {
    val position = pair @@ U(number, 1 bit)
    val isFirstHeaderWord = pair === 2 && (if (number == 0) !header.tagged else True)
    val inHeader = early ? (isFirstHeaderWord || pair === 3) | position < header.tcpStart
    // Source and destination: words 7 and 8, one more behind a tag.
    val isAddress = number match {
      case 0 => pair === 4
      case 1 => header.tagged ? (pair === 4) | (pair === 3)
    }
    val whole = early || position < end
    val part = position === end
    val bytes = io.windows.words(number).subdivideIn(8 bits).reverse
    val masked = bytes.zipWithIndex.map { case (byte, i) =>
      byte.andMask(if (i < 3) whole || (part && rest > i) else whole)
    }
    // Not enabled: whether the window passes is known late, and in time for the next stage.
    val word = RegNext(Cat(masked.reverse).asUInt)
    val toIp = RegNext(inHeader)
    val toTcp = RegNext((!early && !inHeader) || isAddress)
  }
  private val lanes = Seq(Lane(0), Lane(1))

  private def after(signal: Bool) = RegNext(signal) init False
  private val maskedValid = after(io.windows.valid)
  private val summedValid = after(maskedValid)
  private val restart = RegNext(pair === 1)
  private val restartSummed = RegNextWhen(restart, maskedValid)

  /** A sum over the lanes' words that `chosen` picks; the result comes six clocks after the last window. */
  private case class Sum(bits: Int, chosen: Lane => Bool, pseudo: UInt) extends Area {
    val Seq(low, high) = lanes.map(lane => lane.word.asBits.andMask(chosen(lane)).asUInt)
    val summed = RegNextWhen(low +^ high, maskedValid)
    val total = Reg(UInt(bits bits))
    when(summedValid)(total := (restartSummed ? U(0) | total) + summed)

    val halves = RegNextWhen(total(31 downto 16) +^ total(15 downto 0), folding)
    val rest = RegNextWhen(total(bits - 1 downto 32) +^ pseudo, folding)
    val folded = RegNextWhen((halves +^ rest).resize(18), adding)
    // Adding the carries, at most 3, gives 0xffff.
    val right = RegNextWhen(folded(15 downto 0) === U(0xffff, 16 bits) - folded(17 downto 16), io.settling)
  }
  private val folding = after(after(after(io.last)))
  private val adding = after(folding)
  io.settling := after(adding)

  // 15 words; what a frame of 9,018 bytes has.
  private val ip = Sum(36, _.toIp, U(0, 16 bits))
  private val tcp = Sum(44, _.toTcp, RegNext(io.tcpLength +^ 6))
  io.ipRight := ip.right
  io.tcpRight := tcp.right
}
