// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.DownbeatConfig
import downbeat.engine.SegmentDescriptor
import downbeat.flow.LocalAddresses
import downbeat.wire.OnesComplement.{fold, foldLast}
import spinal.core._

/** Lengths and ones' complement sums (RFC 1071) of a segment's headers, in clocks counted by the builder's `step`.
  *
  * IPv4: sum of its ten words without the checksum. TCP: pseudo header (RFC 9293 3.1), header and options; the payload's
  * sum is added later. Each register is loaded in one step only, with what the steps before left, so that nothing moves between segments.
  * Read `segment` and `local` from step 0 on, `peer` from step 2 on; both sums stand from `HeaderSums.lastStep` on.
  */
case class HeaderSums(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val step = in UInt (4 bits)
    val segment = in(SegmentDescriptor(config))
    val peer = in(Peer())
    val local = in(LocalAddresses())
    val ipLength = out UInt (14 bits)
    val lastByte = out UInt (14 bits)
    val ipSum, tcpSum = out UInt (16 bits)
  }
  noIoPrefix()

  private def at(step: Int)(value: UInt): UInt = RegNextWhen(value, io.step === step)
  private def halves(value: UInt): UInt = value(31 downto 16) +^ value(15 downto 0)

  private val syn = io.segment.flags.syn
  private val scaled = io.segment.windowScaleOffered
  /** One of three constants, by the options that the segment carries. */
  private def byOptions(plain: Int, mss: Int, mssAndScale: Int, width: Int): UInt =
    Mux(syn, Mux(scaled, U(mssAndScale, width bits), U(mss, width bits)), U(plain, width bits))
  private def wordSum(option: BigInt): Int = ((option >> 16) + (option & 0xffff)).toInt
  private val mssSum = wordSum(SegmentHeader.mssOption(config))
  private val scaleSum = wordSum(SegmentHeader.windowScaleOption(config))

  // Lengths.
  private val tcpLength = at(0)(io.segment.length + byOptions(20, 24, 28, 14))
  private val ipLength = at(1)(tcpLength + 20)
  private val unpaddedLast = at(2)(ipLength + 13)
  private val lastByte = at(3)((unpaddedLast < 59) ? U(59, 14 bits) | unpaddedLast) // 60 bytes at least

  // What TCP alone says.
  private val offsetAndFlags = byOptions(5, 6, 7, 4) @@ U(0, 4 bits) @@ io.segment.flags.asBits.asUInt
  private val sequence = at(0)(halves(io.segment.sequence.value))
  private val acknowledgment = at(0)(halves(io.segment.acknowledgment.value))
  private val control = at(0)(offsetAndFlags +^ io.segment.window)
  private val numbers = at(1)(sequence +^ acknowledgment)
  private val ports = at(2)(io.peer.localPort +^ io.peer.remotePort)
  private val numbersAndControl = at(2)(numbers +^ control)
  private val tcpWords = at(3)(numbersAndControl +^ ports)
  private val protocolAndLength = at(3)(tcpLength +^ byOptions(6, 6 + mssSum, 6 + mssSum + scaleSum, 16))

  // Addresses, in both sums.
  private val remote = at(2)(halves(io.peer.ip))
  private val own = at(2)(halves(io.local.ip))
  private val addresses = at(3)(remote +^ own)

  private val ipWords = at(3)(ipLength +^ U(0x4500 + 0x4000 + 0x4006, 16 bits))
  private val ip = at(4)(addresses +^ ipWords)
  private val ipFolded = at(5)(fold(ip))

  private val pseudo = at(4)(addresses +^ protocolAndLength)
  private val tcp = at(5)(pseudo +^ tcpWords)
  private val tcpFolded = at(6)(fold(tcp))

  io.ipLength := ipLength
  io.lastByte := lastByte
  io.ipSum := foldLast(ipFolded)
  io.tcpSum := foldLast(tcpFolded)
}

object HeaderSums {
  /** The first step in which every result stands. */
  val lastStep = 7
}
