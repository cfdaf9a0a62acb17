// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.config.DownbeatConfig
import downbeat.mac._
import spinal.core._
import spinal.lib._

/** Records the stamp and the first bytes of every frame that a port receives, good or not.
  *
  * A record is `CapturePort.recordWords` words of 64 bits: the frame's first `headWords` words (byte 0 of the wire in
  * bits 7 to 0; what a shorter frame has not is undefined), the SFD's stamp (ns in bits 63 to 16, fraction below), and
  * the verdict: bits 13 to 0 length without FCS, 16 to 21 the causes of [[ReceivedEnd]] in their order (zero: a good
  * frame), 63 to 32 the number of the frame, lost ones counted. A frame that comes while `hasSpace` is low, or while
  * the last one is still written (fragments without a gap), is lost.
  */
case class CapturePort(
    config: DownbeatConfig, core: ClockDomain, transmit: ClockDomain, receive: ClockDomain) extends Component {
  import CapturePort._
  val io = new Bundle {
    // In clock domain `receive`.
    val gmii = in(GmiiSymbol())
    // In clock domain `transmit`: the time base and how long a clock of it lasts.
    val time = in UInt (TimeBase.bits bits)
    val increment = in UInt (TimeBase.incrementBits bits)
    // In clock domain `core`.
    val enable = in Bool ()
    val words = master(Stream(Bits(64 bits)))
    val hasSpace = in Bool () // for four records
    val lost = out UInt (32 bits)
  }
  noIoPrefix()
  for (signal <- io.gmii.flatten) signal.addTag(ClockDomainTag(receive))
  for (signal <- Seq(io.time, io.increment)) signal.addTag(ClockDomainTag(transmit))
  for (signal <- Seq(io.enable, io.hasSpace)) signal.addTag(ClockDomainTag(core))

  private val receiver = receive(GmiiReceiver(config))
  private val stamps = ReceiveStamps(WireRate.gigabit, receive, transmit)
  // Space is found where time is plenty, and a record ahead: the crossing is never full.
  private val crossing = new StreamFifoCC(Bits(64 bits), 32, receive, core, withPopBufferedReset = false)
  receiver.io.gmii := io.gmii
  receiver.io.linkUp := True
  stamps.io.startOfFrame := receiver.io.startOfFrame
  stamps.io.end := receiver.io.end.valid
  stamps.io.time := io.time
  stamps.io.increment := io.increment
  io.words << crossing.io.pop

  private val writing = new ClockingArea(receive) {
    val enabled = BufferCC(io.enable, False)
    val frames = Reg(UInt(32 bits)) init 0
    val place = Reg(UInt(log2Up(recordWords + 1) bits)) init 0
    val keeps = RegInit(False) // this frame has a record
    val closing = RegInit(False) // its end has come, its record is filled up
    val stamp, verdict = Reg(Bits(64 bits))
    val end = receiver.io.end
    val starts = receiver.io.startOfFrame

    val space = BufferCC(io.hasSpace, False)
    val loses = starts && enabled && (!space || keeps)
    when(starts && enabled)(frames := frames + 1)
    when(starts && enabled && space && !keeps) {
      keeps := True
      place := 0
    }
    val head = keeps && !closing && receiver.io.word.valid && place < headWords
    when(keeps && !closing && end.valid) {
      closing := True
      stamp := stamps.io.stamp.asBits
      val causes = Seq(end.linkDown, end.rxError, end.runt, end.oversize, end.badFcs, end.pause).asBits()
      verdict := (frames - 1) ## B(0, 10 bits) ## causes ## B(0, 2 bits) ## end.length
    }
    crossing.io.push.valid := head || closing
    crossing.io.push.payload := receiver.io.word.payload
    when(place === headWords)(crossing.io.push.payload := stamp)
    when(place === headWords + 1)(crossing.io.push.payload := verdict)
    when(crossing.io.push.valid)(place := place + 1)
    when(closing && place === recordWords - 1) {
      closing := False
      keeps := False
    }
  }
  io.lost := EventCounter.of("lost", writing.loses, receive, core)
}

object CapturePort {
  val headWords = 8
  val recordWords: Int = headWords + 2
}
