// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.messages.{LocalAddresses, SegmentDescriptor}
import downbeat.wire.IpProtocol
import downbeat.wire.OnesComplement.{fold, foldLast}
import spinal.core._

/** Lengths and ones' complement sums (RFC 1071) of a segment's headers, in clocks counted by the builder's `step`.
  *
  * IPv4: sum of its ten words without the checksum. TCP: pseudo header (RFC 9293 3.1), header, urgent pointer and
  * options; the payload's sum is added later, that of the options in step `optionStep`. Each register is loaded in one
  * step only, with what the steps before left, so that nothing moves between segments.
  * Read `segment` from step 0 on, `peer` from step 2 on, and `local`, which is constant. The IPv4 header's sum stands
  * from step 5 on, that of TCP from `HeaderSums.lastStep` on.
  */
case class HeaderSums(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val step = in UInt (4 bits)
    val segment = in(SegmentDescriptor(config))
    val peer = in(Peer(config.vlanBits))
    val local = in(LocalAddresses())
    /** From step 1 on, and from `optionStep` on, see HeaderOptions. */
    val optionWords = in UInt (4 bits)
    val optionSum = in UInt (21 bits)
    val ipLength = out UInt (14 bits)
    val lastByte = out UInt (14 bits)
    val ipSum, tcpSum = out UInt (16 bits)
    /** URG, from step 1 on, and the pointer, from step 2 on (RFC 9293 3.8.5): to one past the urgent data, or as far as
      * 16 bits reach.
      */
    val urgent = out Bool ()
    val urgentPointer = out UInt (16 bits)
  }
  noIoPrefix()

  private def at(step: Int)(value: UInt): UInt = RegNextWhen(value, io.step === step)
  private def halves(value: UInt): UInt = value(31 downto 16) +^ value(15 downto 0)

  // Lengths.
  private val dataOffset = U(5, 4 bits) + io.optionWords
  private val tcpLength = at(1)(io.segment.length + (dataOffset << 2))
  private val ipLength = at(2)(tcpLength + HeaderSums.ipHeaderBytes)
  private val unpaddedLast = at(3)(ipLength + 13)
  private val lastByte = at(4)((unpaddedLast < 59) ? U(59, 14 bits) | unpaddedLast) // 60 bytes at least

  // Urgent data that is not before the segment: one byte less than the pointer, for that needs no carry.
  private val distance = at(0)(io.segment.urgentEnd + ~io.segment.sequence.value.resize(io.segment.urgentEnd.getWidth))
  private val urgentLast = distance.asSInt.resize(distance.getWidth max 18).asUInt
  private val urgent = io.segment.urgent && !urgentLast.msb
  private val urgentFar = urgentLast(urgentLast.high - 1 downto 16).orR || urgentLast(15 downto 0).andR
  private val urgentPointer = at(1)(
    urgent ? (urgentFar ? U(65535, 16 bits) | (urgentLast(15 downto 0) + 1)) | U(0, 16 bits))
  io.urgent := urgent
  io.urgentPointer := urgentPointer
  private val flags = CombInit(io.segment.flags).allowOverride()
  flags.urg := urgent

  // Fields of TCP alone. The rest of its length, and the protocol, come with the options.
  private val sequence = at(0)(halves(io.segment.sequence.value))
  private val acknowledgment = at(0)(halves(io.segment.acknowledgment.value))
  private val windowAndLength = at(0)(io.segment.window +^ io.segment.length)
  private val offsetAndFlags = dataOffset @@ U(0, 4 bits) @@ flags.asBits.asUInt
  private val control = at(1)(offsetAndFlags +^ windowAndLength)
  private val numbers = at(1)(sequence +^ acknowledgment)
  private val ports = at(2)(io.peer.localPort +^ io.peer.remotePort)
  private val numbersAndControl = at(2)(numbers +^ control)
  private val tcpWords = at(3)(numbersAndControl +^ ports)

  // IPv4: what is the same for all frames, the length, the service, the other address.
  private val own = RegNext(halves(io.local.ip))
  private val service =
    io.peer.service.timeToLive @@ io.peer.service.differentiatedServices @@ io.segment.ecnCapable.asUInt @@ U(0, 1 bit)
  private val usual = RegNext(own +^ U(0x4500 + HeaderSums.ipHeaderBytes + 0x4000 + IpProtocol.tcp, 16 bits))
  private val withLength = at(0)(usual +^ io.segment.length)
  private val withOptions = at(1)(withLength +^ (dataOffset << 2))
  private val withService = at(2)(withOptions +^ service)
  private val remote = at(2)(halves(io.peer.ip))
  private val ip = at(3)(withService +^ remote)
  private val ipFolded = at(4)(fold(ip))

  // Both addresses and the pointer, for TCP.
  private val ownAndPointer = at(2)(own +^ urgentPointer)
  private val addressesAndPointer = at(3)(remote +^ ownAndPointer)

  private val plain = at(4)(addressesAndPointer +^ tcpWords)
  private val tcp = at(HeaderSums.optionStep)(plain +^ io.optionSum)
  private val tcpFolded = at(6)(fold(tcp))

  io.ipLength := ipLength
  io.lastByte := lastByte
  io.ipSum := foldLast(ipFolded)
  io.tcpSum := foldLast(tcpFolded)
}

object HeaderSums {
  private val ipHeaderBytes = 20
  /** Lasts until the options are summed. */
  val optionStep = 5
  /** The first step in which every result stands. */
  val lastStep = 7
}
