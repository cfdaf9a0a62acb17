// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.config.DownbeatConfig
import downbeat.lib.Tally
import downbeat.wire.{EtherType, LaunchMode, TransmitBeat}
import spinal.core._
import spinal.lib._

/** One queue of the gate, as the intake fills it. */
case class IntakePort() extends Bundle with IMasterSlave {
  val space = Bool() // for a word, and for a request when the frame has ended
  val write = Flow(Bits(64 bits))
  val end = Flow(FrameEnd())
  val request = Flow(LaunchRequest())

  override def asMaster(): Unit = {
    in(space)
    master(write, end, request)
  }
}

/** Frames from the core into the gate's two queues; one that is too large, or meets a soft reset, is swallowed and counted. */
case class TransmitIntake(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val beats = slave Stream (TransmitBeat())
    /** Soft reset: swallow what comes, to the end of the frame. */
    val flush = in Bool ()
    val increment = in UInt (TimeBase.incrementBits bits)
    val timed = master(IntakePort()) // `at` and `afterPrevious`
    val immediate = master(IntakePort()) // `asap`
    val accepted, oversize, swallowed = out UInt (config.counterBits bits)
  }
  noIoPrefix()

  private val beat = io.beats.s2mPipe().m2sPipe()
  private val isImmediate = beat.mode === LaunchMode.asap
  private val length = Reg(UInt(14 bits)) init 0 // bytes so far
  private val tooLong, cut, secondBeat = RegInit(False)
  private val tagged = Reg(Bool())

  // One frame at a time: after its last beat the next one waits until its request is made.
  private val ending = History(beat.fire && beat.frame.last, 1 to 5, init = False)
  private val busy = ending.orR
  private val discard = cut || tooLong || io.flush
  private val space = isImmediate ? io.immediate.space | io.timed.space
  beat.ready := (space || discard) && !busy

  private val limit = config.maximumFrameBytes - Ethernet.fcsBytes
  private val wordLimit = (limit + Ethernet.tagBytes + 7) / 8
  when(beat.fire) {
    length := length + CountOne(beat.frame.keep)
    tooLong setWhen (length(13 downto 3) === wordLimit)
    secondBeat := length === 0
    when(secondBeat)(tagged := EndiannessSwap(beat.frame.data(47 downto 32)) === EtherType.tag)
    when(length === 0)(tagged := False)
  }
  cut setWhen (io.flush && (beat.fire || length =/= 0 || busy))

  private val toImmediate = RegNextWhen(isImmediate, beat.fire)
  private val oversize = tooLong || length > (tagged ? U(limit + Ethernet.tagBytes) | U(limit))
  private val good = RegNextWhen(!oversize && !cut && !io.flush, ending(0))
  private val request = LaunchRequest()
  request.length := length
  request.tag := RegNextWhen(beat.tag, beat.fire)
  request.afterPrevious := RegNextWhen(beat.mode === LaunchMode.afterPrevious, beat.fire)
  request.launch := RegNextWhen(beat.launch, beat.fire)

  // 14 by 40 bits, in the pieces of an FPGA's multipliers: registers, products, two sums.
  private val byteTimes = RegNext(LaunchRequest.padded(length) + U(Ethernet.overheadBytes - 1))
  private val pieces = io.increment.subdivideIn(18 bits, strict = false).map(piece => RegNext(byteTimes * RegNext(piece)))
  private val low = RegNext(pieces(0) +^ (pieces(1) << 18))
  request.duration := RegNext((low +^ (RegNext(pieces(2)) << 36)).resize(54))

  for ((port, chosen) <- Seq(io.immediate -> isImmediate, io.timed -> !isImmediate)) {
    port.write.valid := beat.fire && !discard && chosen
    port.write.payload := beat.frame.data
  }
  for ((port, chosen) <- Seq(io.immediate -> toImmediate, io.timed -> !toImmediate)) {
    port.end.valid := ending(0) && chosen
    port.end.keep := !oversize && !cut
    port.end.words := request.words
    port.request.valid := ending(4) && good && !cut && chosen
    port.request.payload := request
  }

  private def count(event: Bool): UInt = Tally(event, config.counterBits)
  io.accepted := count(ending(4) && good && !cut)
  io.swallowed := count(ending(4) && cut)
  io.oversize := count(ending(4) && !good && !cut)
  when(ending(4)) {
    length := 0
    cut := False
    tooLong := False
  }
}
