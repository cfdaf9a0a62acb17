// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.config.DownbeatConfig
import downbeat.wire.EtherType
import spinal.core._
import spinal.lib._
import spinal.lib.com.eth.{Crc, CrcKind}

/** The end of a received frame: it is good, or at most one of the causes is set. */
case class ReceivedEnd() extends Bundle {
  val length = UInt(14 bits) // bytes without FCS
  val linkDown, rxError, runt, oversize, badFcs, pause = Bool()
  def good: Bool = !(linkDown || rxError || runt || oversize || badFcs || pause)
}

object ReceivedEnd {
  /** The first cause that applies is the frame's. */
  def of(length: UInt, linkDown: Bool, rxError: Bool, runt: Bool, oversize: Bool, badFcs: Bool,
      pause: Bool): ReceivedEnd = {
    val end = ReceivedEnd()
    end.length := length
    val causes = OHMasking.first(Seq(linkDown, rxError, runt, oversize, badFcs, pause))
    for ((cause, applies) <- Seq(end.linkDown, end.rxError, end.runt, end.oversize, end.badFcs, end.pause).zip(causes))
      cause := applies
    end
  }
}

/** GMII bytes to words of eight, from behind the SFD to the end of the FCS (IEEE 802.3 clauses 3 and 35), in the
  * receive clock's domain.
  *
  * A preamble may be of any length, even none. After a reset it waits for the carrier to go, so that the rest of a
  * frame is none.
  */
case class GmiiReceiver(config: DownbeatConfig) extends Component with WireReceiver {
  val io = new Bundle {
    val gmii = in(GmiiSymbol())
    val linkUp = in Bool ()
    /** The pins carried an SFD during the clock before. */
    val startOfFrame = out Bool ()
    /** Words of a frame; the last may be the FCS's alone. Byte 0 of the wire is in bits 7 to 0. */
    val word = master Flow (Bits(64 bits))
    /** With the third word: the frame does not go to the core. */
    val stays = out Bool ()
    /** One for each SFD, after its last word and before the next one's first. */
    val end = master Flow (ReceivedEnd())
  }
  noIoPrefix()
  def linkUp: Bool = io.linkUp
  def startOfFrame: Bool = io.startOfFrame
  def word: Flow[Bits] = io.word
  def stays: Bool = io.stays
  def end: Flow[ReceivedEnd] = io.end

  private val gmii = RegNext(io.gmii)
  private val valid = RegNext(io.gmii.valid) init True // until it has been seen to be away
  private val waiting = RegInit(True) // for the carrier to go
  private val inFrame = RegInit(False)
  private val take = inFrame && valid
  private val ended = inFrame && !valid
  private val start = valid && !inFrame && !waiting && gmii.data === Ethernet.startOfFrame
  when(start)(inFrame := True)
  when(ended)(inFrame := False)
  when(!valid)(waiting := False)
  io.startOfFrame := start

  private val limit = config.maximumFrameBytes
  private val length = Reg(UInt(14 bits)) // with FCS; stops behind the largest
  private val error, wasDown, longEnough, beyond, beyondTagged, tagged, pause, high81, high88 = Reg(Bool())
  when(!valid)(error := False)
  when(valid && gmii.error)(error := True)
  when(start) {
    length := 0
    wasDown := !io.linkUp
    longEnough := False
    beyond := False
    beyondTagged := False
    tagged := False
    pause := False
  }
  when(take) {
    when(!beyondTagged)(length := length + 1)
    longEnough setWhen (length === Ethernet.minimumBytes + Ethernet.fcsBytes - 1)
    beyond setWhen (length === limit)
    beyondTagged setWhen (length === limit + Ethernet.tagBytes)
    when(length === 12) {
      high81 := gmii.data === (EtherType.tag >> 8)
      high88 := gmii.data === (EtherType.macControl >> 8)
    }
    when(length === 13) {
      tagged := high81 && gmii.data === (EtherType.tag & 0xff)
      pause := high88 && gmii.data === (EtherType.macControl & 0xff)
    }
  }

  private val crc = Crc(CrcKind.Crc32, 8)
  crc.io.flush := start
  crc.io.input.valid := take
  crc.io.input.payload := gmii.data
  private val fcsRight = RegNext(crc.io.result === Ethernet.residue)

  private val lane = length(2 downto 0)
  private val bytes = Vec(Reg(Bits(8 bits)), 8)
  when(take)(bytes(lane) := gmii.data)
  io.word.valid := RegNext((take && lane === 7 || ended && lane =/= 0) && !beyondTagged) init False
  io.word.payload := bytes.asBits
  io.stays := RegNext(wasDown || pause)

  // The clock after the last byte: the CRC has been compared.
  private val judge = RegNext(ended) init False
  private val oversize = tagged ? beyondTagged | beyond
  private val verdict = ReceivedEnd.of(length = length - Ethernet.fcsBytes, linkDown = wasDown,
    rxError = RegNext(error), runt = !longEnough, oversize = oversize, badFcs = !fcsRight, pause = pause)
  io.end.valid := RegNext(judge) init False
  io.end.payload := RegNext(verdict)
}
