// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.messages.{IcmpErrorKind, LocalAddresses, ReceiveDrops, ReceivedSegment, TcpOptions}
import spinal.core._
import spinal.lib._

/** A whole frame that is addressed to us, with its headers and sums. */
case class GatheredFrame(config: DownbeatConfig) extends Bundle {
  val header = FrameHeader()
  val bytes = UInt(config.frameByteBits bits)
  val vlan = UInt(config.vlanBits bits)
  /** Its slot, if it carries what needs one. */
  val slot = FrameSlot(config)
}

/** Checks frames. A valid one becomes a segment; for an invalid one the first cause is counted and its slot is freed. It
  * takes six clocks, in which the checksums settle, and one more for timestamps and SACK blocks.
  *
  * A frame waits for its checksums in one place, and for its segment to be taken in another. With beats of eight bytes
  * that is the same place: frames are as long as a judgement takes.
  */
case class SegmentParser(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val local = in(LocalAddresses())
    /** Only while there is a place for it. With wide beats, six clocks after the one before, or more. */
    val frame = slave Flow (GatheredFrame(config))
    /** All places are taken. */
    val full = out Bool ()
    val idle = out Bool ()
    /** To and from the checksums, see PacketSums. */
    val tcpLength = out UInt (16 bits)
    val settling, ipRight, tcpRight = in Bool ()
    /** Read with `settling`. */
    val faults = in(OptionFaults())
    /** Likewise; with long values two clocks later. */
    val options = in(TcpOptions(config))
    val segments = master Stream (ReceivedSegment(config))
    val rejected = master Flow (UInt(config.slotBits bits))
    val drops = out(ReceiveDrops(Bool()))
  }
  noIoPrefix()

  private val onePlace = config.beatBytes == 8
  private val waiting, settled, holds, judging = RegInit(False)
  private val judges = waiting && (io.settling || settled) && !holds
  private val judgedNow = RegNext(judges) init False
  io.full := (if (onePlace) waiting || holds else waiting && holds)
  io.idle := !waiting && !holds
  // Follows the gatherer until a frame is valid: that is known too late to enable so many registers.
  private val frame = RegNextWhen(io.frame.payload, if (onePlace) !io.full else !waiting || judges)
  private val header = frame.header
  private val judged = if (onePlace) frame else RegNextWhen(frame, judges)
  /** It is needed as long as `judged`, and follows from `frame` two clocks later. */
  private def kept[T <: Data](value: T): T = if (onePlace) value else RegNextWhen(value, judgedNow)
  private val faults = RegNextWhen(io.faults, judges)
  private val valuesRead = Delay(judges, 2, init = False)
  private val options = RegNextWhen(io.options, judges || valuesRead)
  private val complete = Reg(Bool())
  when(judges)(complete := False)
  when(valuesRead)(complete := True)

  // All registered: the header stands while it is judged.
  private val ipBytes = header.headerLength @@ U(0, 2 bits)
  private val headerBytes = RegNext((header.headerLength +^ header.dataOffset) @@ U(0, 2 bits))
  private val packetSpace = RegNext(frame.bytes - (header.tagged ? U(18) | U(14))) // bytes after the Ethernet header
  io.tcpLength := RegNext(header.totalLength - ipBytes)
  private val length = RegNext(header.totalLength - headerBytes)
  private def early(condition: Bool) = RegNext(condition)

  private val fromUs = early(header.sourceIp === io.local.ip)
  private val samePort = early(header.sourcePort === header.destinationPort)
  private val network = header.sourceIp(31 downto 24)
  private val failed = new ReceiveDrops(Bool())
  failed.badFrame := False
  failed.oversize := False
  failed.bypassOverflow := False
  failed.controlOverflow := False
  failed.ipVersion := early(header.version =/= 4)
  failed.ipHeaderLength := early(header.headerLength < 5)
  failed.ipLength := early(header.totalLength < ipBytes +^ 20 && !header.fragment) // the last fragment may be short
  failed.truncated := early(packetSpace < header.totalLength)
  failed.ipChecksum := !io.ipRight
  failed.fragment := judged.header.fragment
  private val hasIpOptions = early(5 < header.headerLength)
  private val hasTcpOptions = early(5 < header.dataOffset)
  // From three words of options on there may be a timestamp or SACK blocks; such a frame is long enough to wait for
  // them.
  private val hasLongValues = early(7 < header.dataOffset)
  failed.sourceRoute := hasIpOptions && faults.sourceRoute
  failed.tcpHeaderLength := early(header.dataOffset < 5 || header.totalLength < headerBytes)
  failed.tcpChecksum := !io.tcpRight
  failed.options := (hasIpOptions && faults.ipMalformed) || (hasTcpOptions && faults.tcpMalformed)
  // RFC 1122 3.2.1.3: "this" network, loopback, multicast and above never are a source.
  failed.invalidSource := early(network === 0 || network === 127 || !(network < 224)) ||
    early(header.sourceMac(40) || header.sourceMac === io.local.mac) || (fromUs && !samePort)
  failed.land := fromUs && samePort
  failed.portZero := early(header.sourcePort === 0 || header.destinationPort === 0)
  failed.flags := early(header.flags.syn && (header.flags.fin || header.flags.rst))
  failed.noSlot := judged.header.carries && !judged.slot.held

  private val bad = RegNextWhen(failed.causes.orR, judgedNow)
  private val causes = kept(failed.causes.asBits())
  private val dropped = judging && bad
  private val first = OHMasking.first(causes)
  for ((drop, i) <- io.drops.causes.zipWithIndex) drop := dropped && first(i)

  io.rejected.valid := dropped && judged.slot.held
  io.rejected.payload := judged.slot.slot

  when(io.settling)(settled := True)
  when(judgedNow)(judging := True)
  when(dropped || io.segments.fire) {
    holds := False
    judging := False
  }
  when(judges) {
    waiting := False
    settled := False
    holds := True
  }
  when(io.frame.valid)(waiting := True)

  private val segment = io.segments.payload
  private val mayHaveLongValues = kept(hasLongValues)
  private val mayHaveOptions = kept(hasTcpOptions)
  io.segments.valid := judging && !bad && (!mayHaveLongValues || complete)
  segment.icmpError := IcmpErrorKind.none
  segment.remoteMac := judged.header.sourceMac
  segment.vlan := judged.vlan
  segment.remoteIp := judged.header.sourceIp
  segment.remotePort := judged.header.sourcePort
  segment.localPort := judged.header.destinationPort
  segment.sequence := judged.header.sequence
  segment.acknowledgment := judged.header.acknowledgment
  segment.flags := judged.header.flags
  segment.window := judged.header.window
  segment.urgentPointer := judged.header.urgentPointer
  segment.length := kept(length).resized
  segment.payload.held := judged.slot.held
  segment.payload.slot := judged.slot.slot
  segment.payload.offset := ((judged.header.payloadStart @@ U(0, 2 bits)) - 2).resized
  segment.stamp := judged.header.stamp
  segment.congestionExperienced := judged.header.congestionExperienced
  segment.options := options
  private val onSyn = mayHaveOptions && judged.header.flags.syn
  private val selects = mayHaveLongValues && judged.header.flags.ack && !judged.header.flags.syn
  segment.options.mssValid.allowOverride() := onSyn && options.mssValid
  segment.options.windowScaleValid.allowOverride() := onSyn && options.windowScaleValid
  segment.options.sackPermitted.allowOverride() := onSyn && options.sackPermitted
  segment.options.timestampValid.allowOverride() := mayHaveLongValues && options.timestampValid
  for ((block, read) <- segment.options.sack.zip(options.sack)) block.valid.allowOverride() := selects && read.valid
  segment.options.duplicateSack.allowOverride() := selects && options.duplicateSack
}
