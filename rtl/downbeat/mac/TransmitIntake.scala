// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.config.DownbeatConfig
import downbeat.lib.Tally
import downbeat.wire.{EtherType, LaunchMode, TransmitBeat}
import spinal.core._
import spinal.lib._

/** One queue of the gate, as the intake fills it. */
case class IntakePort() extends Bundle with IMasterSlave {
  val space = Bool() // for a word and a request
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
  *
  * On GMII, which takes a beat every eight clocks, an `asap` frame whose length is known goes to the gate with its first
  * beat; any other when it has ended.
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

  private val isFirst = RegInit(True)
  private val isKnown = Bool(!config.xgmii) && isImmediate && beat.lastByte.orR
  private val ends = beat.fire && beat.frame.last
  private val ended = RegNext(ends) init False
  private val discard = cut || tooLong || io.flush
  /** A frame goes to the gate before its end; its last beat comes later than its request. */
  private val opens = beat.fire && isFirst && isKnown && !discard
  private val opened = RegNext(opens) init False
  private val open = RegInit(False) setWhen opens clearWhen ended
  // The stages of a request: one frame at a time.
  private val measured = ended && !open || opened
  private val stages = History(measured, 1 to 4, init = False)
  private val requests = stages.last
  private val busy = measured || stages.orR

  // Behind the last beat is a clock without one. What makes a request waits until the one before is made.
  private val space = isImmediate ? io.immediate.space | io.timed.space
  beat.ready := (space || discard) && !ended && !(busy && (beat.frame.last || isFirst && isKnown))

  private val limit = config.maximumFrameBytes - Ethernet.fcsBytes
  private val wordLimit = (limit + Ethernet.tagBytes + 7) / 8
  when(beat.fire) {
    isFirst := False
    length := length + CountOne(beat.frame.keep)
    tooLong setWhen (length(13 downto 3) === wordLimit)
    secondBeat := isFirst
    when(secondBeat)(tagged := EndiannessSwap(beat.frame.data(47 downto 32)) === EtherType.tag)
    when(isFirst)(tagged := False)
  }
  when(ended) {
    isFirst := True
    length := 0
    tooLong := False
    cut := False
  }
  when(measured)(cutBefore := cut || io.flush).elsewhen(io.flush)(cutBefore := True)
  cut setWhen (io.flush && (beat.fire || !isFirst && !ended))

  private val takes = ends || opens
  private val toImmediate = RegNextWhen(isImmediate, takes)
  private val oversize = tooLong || length > (tagged ? U(limit + Ethernet.tagBytes) | U(limit))
  private val good = RegNextWhen(opened || !oversize, measured)
  private val whole = opened ? (RegNextWhen(beat.lastByte, opens) + 1) | length
  private val request = LaunchRequest()
  request.length := RegNextWhen(whole, measured)
  request.tag := RegNextWhen(beat.tag, takes)
  request.afterPrevious := RegNextWhen(beat.mode === LaunchMode.afterPrevious, takes)
  request.launch := RegNextWhen(beat.launch, takes)

  // 14 by 40 bits, in the pieces of an FPGA's multipliers: registers, products, two sums.
  private val rate = WireRate.of(config)
  private val slots =
    RegNext(((LaunchRequest.padded(whole) + U(Ethernet.overheadBytes - 1)) >> log2Up(rate.slotBytes)).resize(14))
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
    port.request.valid := requests && good && !cutBefore && chosen
    port.request.payload := request
  }

  private def count(event: Bool): UInt = Tally(event, config.counterBits)
  io.accepted := count(requests && good && !cutBefore)
  io.swallowed := count(requests && cutBefore)
  io.oversize := count(requests && !good && !cutBefore)
}
