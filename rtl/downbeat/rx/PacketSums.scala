// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.wire.{EtherType, IpProtocol}
import spinal.core._
import spinal.lib._

/** The two checksums of a packet, in one pass (RFC 1071): a ones' complement sum with its checksum in it is 0xffff.
  *
  * Whole 32-bit words are added, carries kept above; 2^16 and 2^32 are both 1 modulo 0xffff, so folding once at the end
  * gives the sum of the halves. IP: the words of its header, from the frame's head. TCP (RFC 9293 3.1): all of the
  * packet, from the frame's beats, and the pseudo header: source, destination, protocol 6 and the TCP length. The IP
  * header among it adds nothing if its own sum is right, and otherwise the packet is dropped for that.
  */
case class PacketSums(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val windows = slave Flow (FrameWindow(config))
    val header = in(FrameHeader())
    /** Beats as they pass, and the same a clock later. */
    val passing, stored = slave Flow (StoredBeat(config))
    val ownIp = in UInt (32 bits)
    /** The frame whose last window passes wants a verdict. */
    val last = in Bool ()
    /** Its TCP length, bytes: needed three clocks after `last`. */
    val tcpLength = in UInt (16 bits)
    /** `PacketSums.settling` clocks after `last`: from the next clock on, and until the next `settling`, the results
      * hold.
      */
    val settling = out Bool ()
    val ipRight, tcpRight = out Bool ()
  }
  noIoPrefix()

  private def after(signal: Bool) = RegNext(signal) init False
  private def halves(value: UInt): UInt = value(31 downto 16) +^ value(15 downto 0)

  /** One register: what is left of a sum of many words, a fourth of them. */
  private def fours(words: Seq[UInt], enable: Bool): Seq[UInt] =
    words.grouped(4).map(four => RegNextWhen(CarrySave.sum(four), enable)).toSeq

  /** The clocks in which a total is folded, from the one on in which all of the frame is in it. */
  private case class Folding(begins: Bool) extends Area {
    val adds = after(begins)
    val ends = after(adds)
  }
  private val ipFolding = Folding(Delay(io.last, 3, init = False))
  private val later = PacketSums.laterClocks(config)
  private val tcpFolding = if (later == 0) ipFolding else Folding(Delay(ipFolding.begins, later, init = False))
  io.settling := tcpFolding.ends

  private case class Total(bits: Int, sum: UInt, valid: Bool, restart: Bool, pseudo: UInt, folding: Folding)
      extends Area {
    private val total = Reg(UInt(bits bits))
    when(valid)(total := (restart ? U(0) | total) + sum)

    private val halved = RegNextWhen(halves(total(31 downto 0)), folding.begins)
    private val rest = RegNextWhen(total(bits - 1 downto 32) +^ pseudo, folding.begins)
    private val folded = RegNextWhen((halved +^ rest).resize(20), folding.adds)
    // Adding the carries, at most fifteen, gives 0xffff.
    val right = RegNextWhen(folded(15 downto 0) === U(0xffff, 16 bits) - folded(19 downto 16), folding.ends)
  }

  // ---- IP: 15 words

  private val ip = new Area {
    private val header = io.header
    private val pair = io.windows.pair
    private val masked = for (number <- Seq(0, 1)) yield {
      val position = pair @@ U(number, 1 bit)
      val isFirstWord = pair === 2 && (if (number == 0) !header.tagged else True)
      val inHeader = (pair < 4) ? (isFirstWord || pair === 3) | position < header.tcpStart
      // Not enabled: whether the window passes is known late, and in time for the next stage.
      RegNext(io.windows.words(number).andMask(inHeader).asUInt)
    }
    private val maskedValid = after(io.windows.valid && !io.windows.empty)
    private val summed = RegNextWhen(masked(0) +^ masked(1), maskedValid)
    private val restart = RegNextWhen(RegNext(pair === 2), maskedValid)
    val total = Total(36, summed, after(maskedValid), restart, U(0, 16 bits), ipFolding)
  }
  io.ipRight := ip.total.right

  // ---- TCP: all that a frame of 9,018 bytes has

  private val tcp = new Area {
    private val bytes = config.beatBytes
    private val passing = io.passing.payload
    private def field(first: Int, count: Int): (Bits, Bool) = { // in order of the wire, all in one beat
      val at = first % bytes
      (EndiannessSwap(passing.frame.data(8 * at, 8 * count bits)), io.passing.valid && passing.index === first / bytes)
    }
    private val (etherType, typePasses) = field(12, 2)
    private val isTag = etherType === EtherType.tag
    private val tagged = RegNextWhen(isTag, typePasses)
    private val taggedNow = if (bytes >= 32) isTag else tagged
    private val totalLength = Reg(UInt(16 bits))
    private val ((plain, plainPasses), (behindTag, behindTagPasses)) = (field(16, 2), field(20, 2))
    when(taggedNow ? behindTagPasses | plainPasses)(totalLength := (taggedNow ? behindTag | plain).asUInt)
    // The packet's end, bytes from the frame's first on. The beats before `endBeat` are in any packet.
    private val end = RegNext(totalLength +^ (tagged ? U(18) | U(14)))
    private val endBeat = PacketSums.shortest / bytes

    private val delay = PacketSums.beatDelay(config)
    private val valid = Delay(io.stored.valid, delay, init = False)
    private val stored = Delay(io.stored.payload, delay)
    private val index = stored.index
    private val whole = index < endBeat || index < end(end.high downto config.beatByteBits)
    private val part = index === end(end.high downto config.beatByteBits)
    private def isBehindEthernet(byte: Int): Bool = { // 14 bytes, or 18
      val here = Seq(14 -> !tagged, 18 -> tagged).map { case (header, is) =>
        is && (if (byte < header % bytes) index > header / bytes else index >= header / bytes)
      }
      here.orR
    }
    private val masked = stored.frame.data.subdivideIn(8 bits).zipWithIndex.map { case (byte, i) =>
      val inPacket = whole || part && end(config.beatByteBits - 1 downto 0) > i
      RegNext(byte.andMask(inPacket && isBehindEthernet(i)))
    }
    private val words = masked.grouped(4).map(Cat(_).asUInt).map(word => EndiannessSwap(word.asBits).asUInt).toSeq
    private var sums = words
    private var sumValid = after(valid)
    private var restart = RegNext(index === 0)
    do {
      sums = fours(sums, sumValid)
      restart = RegNextWhen(restart, sumValid)
      sumValid = after(sumValid)
    } while (sums.size > 1)

    private val addresses = RegNext(halves(io.header.sourceIp) +^ halves(io.ownIp))
    private val constant = RegNext(addresses +^ U(IpProtocol.tcp))
    val total = Total(44, sums.head, sumValid, restart, RegNext(constant +^ io.tcpLength), tcpFolding)
  }
  io.tcpRight := tcp.total.right
}

object PacketSums {
  /** Bytes to the end of the shortest packet: Ethernet, IPv4 and TCP without options. */
  private val shortest = 54
  /** Registers of the tree in which a beat's words are added up, four to one. */
  private def levels(config: DownbeatConfig): Int = ((log2Up(config.beatBytes / 4) + 1) / 2) max 1
  /** Clocks for which beats wait: until the packet's length stands; and wide ones, whose frames begin a clock before the
    * last one's end, until its total has been folded.
    */
  private def beatDelay(config: DownbeatConfig): Int =
    if (shortest < config.beatBytes) 1 else if (config.beatBytes == 8) 0 else (2 - levels(config)) max 0
  /** Clocks that the sums come later than with beats of eight bytes. There a frame's last beat comes with its last
    * window, elsewhere a clock before.
    */
  private def laterClocks(config: DownbeatConfig): Int = (beatDelay(config) + levels(config) - 2) max 0
}

/** Sums of words without a carry chain but the last: three words become two. */
private object CarrySave {
  def sum(words: Seq[UInt]): UInt = {
    val bits = widthOf(words.head) + log2Up(words.size)
    words.map(_.resize(bits)) match {
      case Seq(one) => one
      case Seq(one, other) => one + other
      case more => reduced(more.toList)
    }
  }

  private def reduced(words: List[UInt]): UInt = words match {
    case a :: b :: c :: rest => reduced(rest ++ List(a ^ b ^ c, ((a & b) | (a & c) | (b & c)) |<< 1))
    case _ => words.reduce(_ + _)
  }
}
