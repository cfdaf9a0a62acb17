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

/** Passes frames from the core to the gate's two queues. A frame that is too large, or that meets a soft reset, is
  * dropped and counted.
  */
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
  private val tooLong, cut, cutBefore, secondBeat = RegInit(False)
  private val tagged = Reg(Bool())

  // Behind the last beat is a clock without one, and the next frame's last beat waits until the request is made.
  private val ending = History(beat.fire && beat.frame.last, 1 to 5, init = False)
  private val busy = ending.orR
  private val discard = cut || tooLong || io.flush
  private val space = isImmediate ? io.immediate.space | io.timed.space
  beat.ready := (space || discard) && !(beat.frame.last ? busy | ending(0))

  private val limit = config.maximumFrameBytes - Ethernet.fcsBytes
  private val wordLimit = (limit + Ethernet.tagBytes + 7) / 8
  when(beat.fire) {
    length := length + CountOne(beat.frame.keep)
    tooLong setWhen (length(13 downto 3) === wordLimit)
    secondBeat := length === 0
    when(secondBeat)(tagged := EndiannessSwap(beat.frame.data(47 downto 32)) === EtherType.tag)
    when(length === 0)(tagged := False)
  }
  private val ended = ending(0)
  when(ended) {
    length := 0
    tooLong := False
    cut := False
  }
  when(ended)(cutBefore := cut || io.flush).elsewhen(io.flush)(cutBefore := True)
  cut setWhen (io.flush && (beat.fire || length =/= 0 && !ended))

  private val ends = beat.fire && beat.frame.last
  private val toImmediate = RegNextWhen(isImmediate, ends)
  private val oversize = tooLong || length > (tagged ? U(limit + Ethernet.tagBytes) | U(limit))
  private val good = RegNextWhen(!oversize && !cut && !io.flush, ended)
  private val request = LaunchRequest()
  request.length := RegNextWhen(length, ended)
  request.tag := RegNextWhen(beat.tag, ends)
  request.afterPrevious := RegNextWhen(beat.mode === LaunchMode.afterPrevious, ends)
  request.launch := RegNextWhen(beat.launch, ends)

  // 14 by 40 bits, in the pieces of an FPGA's multipliers: registers, products, two sums.
  private val rate = WireRate.of(config)
  private val slots =
    RegNext(((LaunchRequest.padded(length) + U(Ethernet.overheadBytes - 1)) >> log2Up(rate.slotBytes)).resize(14))
  private val pieces =
    io.increment.subdivideIn(18 bits, strict = false).map(piece => RegNext(slots * RegNext(piece)))
  private val low = RegNext(pieces(0) +^ (pieces(1) << 18))
  private val product = (low +^ (RegNext(pieces(2)) << 36)).resize(54)
  // Never too short: half a clock may be no whole number.
  request.duration := RegNext(if (rate.slotsPerClock == 2) ((product +^ U(1)) >> 1).resize(54) else product)

  for ((port, chosen) <- Seq(io.immediate -> isImmediate, io.timed -> !isImmediate)) {
    port.write.valid := beat.fire && !discard && chosen
    port.write.payload := beat.frame.data
  }
  for ((port, chosen) <- Seq(io.immediate -> toImmediate, io.timed -> !toImmediate)) {
    port.end.valid := ended && chosen
    port.end.keep := !oversize && !cut
    port.end.words := LaunchRequest.words(length)
    port.request.valid := ending(4) && good && !cutBefore && chosen
    port.request.payload := request
  }

  private def count(event: Bool): UInt = Tally(event, config.counterBits)
  io.accepted := count(ending(4) && good && !cutBefore)
  io.swallowed := count(ending(4) && cutBefore)
  io.oversize := count(ending(4) && !good && !cutBefore)
}
