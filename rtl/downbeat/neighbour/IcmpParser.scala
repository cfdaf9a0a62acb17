// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import downbeat.config.DownbeatConfig
import downbeat.messages.{IcmpDrops, LocalAddresses}
import downbeat.wire.{IcmpType, IpProtocol, OnesComplement}
import spinal.core._
import spinal.lib._

/** The fields in which an echo reply differs from its request. */
case class EchoChanges(vlanBits: Int) extends Bundle {
  val mac = Bits(48 bits) // the sender's
  val vlan = UInt(vlanBits bits)
  val ip = UInt(32 bits)
  val ipChecksum, icmpChecksum = Bits(16 bits)
}

/** Parses ICMP messages (RFC 792) in IPv4 packets without options. The message is checked when its frame has passed.
  */
case class IcmpParser(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val local = in(LocalAddresses())
    val words = slave(Flow(ControlWord()))
    /** Read with `judge`, which comes when the sums have settled. */
    val bytes = in UInt (14 bits)
    val vlan = in UInt (config.vlanBits bits)
    val judge = in Bool ()
    /** It is an echo request, and it is right. */
    val echo = master(Flow(EchoChanges(config.vlanBits)))
    val icmpErrors = master(Flow(IcmpErrorMessage(config.vlanBits)))
    val drops = out(IcmpDrops(Bool()))
  }
  noIoPrefix()

  private val frame = new FieldGatherer(io.words)
  private val sourceMac = frame.field(6, 6)
  private val version = frame.field(14, 1)
  private val totalLength = frame.number(16, 2)
  private val timeAndProtocol = frame.number(22, 2)
  private val ipChecksum = frame.number(24, 2)
  private val sourceIp = frame.number(26, 4)
  private val kind = frame.field(34, 1)
  private val checksum = frame.number(36, 2)

  // ---- the sums: of the IP header, and of the message to the packet's end

  private val end = RegNext(totalLength +^ 14)
  private val whole = io.words.index < end(13 downto 3)
  private val part = io.words.index === end(13 downto 3)
  private def position(byte: Int, from: Int): Bool = // at `from` or behind it
    if (byte < from % 8) U(from / 8) < io.words.index else !(io.words.index < from / 8)
  private val headerSum = BeatSum(io.words, Seq.tabulate(8)(byte => position(byte, 14) && !position(byte, 34)))
  private val messageSum =
    BeatSum(io.words, Seq.tabulate(8)(byte => position(byte, 34) && (whole || part && end(2 downto 0) > byte)))

  // ---- the judgement; all registered: the fields stand

  private val isEcho = RegNext(kind === IcmpType.echoRequest)
  private val errors = new IcmpErrorReader(frame, kind, io.local, io.vlan)
  private val network = sourceIp(31 downto 24)
  private val failed = IcmpDrops(Bool())
  failed.length := RegNext(version =/= 0x45 || totalLength < 28) || RegNext(io.bytes.resize(17) < end) ||
    !isEcho && RegNext(totalLength < IcmpErrorReader.shortest)
  failed.ipChecksum := !headerSum.right
  failed.checksum := !messageSum.right
  failed.source := RegNext(network === 0 || network === 127 || !(network < 224)) || RegNext(sourceIp === io.local.ip) ||
    RegNext(sourceMac(40) || sourceMac === io.local.mac)
  failed.irrelevant := !isEcho && !errors.relevant
  private val bad = RegNext(failed.causes.orR)
  private val first = RegNext(OHMasking.first(failed.causes.asBits()))
  for ((drop, i) <- io.drops.causes.zipWithIndex) drop := io.judge && first(i)

  /** RFC 1624 turned over: HC' = HC + m + ~m'. It never gives zero, which a message of nothing but zeros must not have.
    * Source and destination change places, which no sum sees; time to live and type are new.
    */
  private def updated(checksum: UInt, before: UInt, after: Int): Bits = {
    val sum = RegNext((checksum +^ before) +^ U(~after & 0xffff, 16 bits))
    val folded = RegNext(OnesComplement.fold(sum))
    OnesComplement.foldLast(folded).asBits
  }
  io.echo.valid := io.judge && isEcho && !bad
  io.echo.mac := sourceMac
  io.echo.vlan := io.vlan
  io.echo.ip := sourceIp
  io.echo.ipChecksum := updated(ipChecksum, timeAndProtocol, EchoResponder.timeToLive << 8 | IpProtocol.icmp)
  io.echo.icmpChecksum := updated(checksum, U(IcmpType.echoRequest << 8, 16 bits), IcmpType.echoReply << 8)
  io.icmpErrors.valid := io.judge && !isEcho && !bad
  io.icmpErrors.payload := errors.icmpError
}
