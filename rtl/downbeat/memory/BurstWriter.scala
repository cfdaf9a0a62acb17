// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import downbeat.messages.Transfer
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** Writes transfers into a buffer. `words` carries the bytes of one transfer after another, each from byte 0 of a word
  * on. A transfer of no bytes takes no word, writes nothing and returns no token.
  *
  * A burst is announced as soon as its transfer is known, and holds the memory's write channel until its words have
  * come. So a transfer must be given only when its words are there or follow without a pause.
  */
case class BurstWriter(config: DownbeatConfig, bufferBytes: Int, base: Long, lengthBits: Int = 14) extends Component {
  val io = new Bundle {
    val transfers = slave(Stream(Transfer(config, lengthBits)))
    val words = slave(Stream(Bits(config.beatBits bits)))
    val axi = master(Axi4WriteOnly(MemoryPort.config(config)))
    /** One token for each transfer, in order, after all its responses; true: the memory reported an error. */
    val done = master(Stream(Bool()))
    val idle = out(Bool())
  }
  noIoPrefix()
  Axi4SpecRenamer(io.axi)

  /** Transfers inside; as many tokens find space, so that a response never waits for who takes them. */
  private val limit = 8
  private val inside = Reg(UInt(log2Up(limit + 1) bits)) init 0
  private val entering = io.transfers.throwWhen(io.transfers.length === 0).continueWhen(!inside.msb)
  inside := (inside + entering.fire.asUInt) - io.done.fire.asUInt
  io.idle := inside === 0

  private val splitter = BurstSplitter(config, bufferBytes, lengthBits)
  splitter.io.transfers << entering
  private val (commands, plans, marks) = StreamFork3(splitter.io.bursts.halfPipe())
  io.axi.aw << commands.map(_.command(io.axi.aw.payload, base)).halfPipe()

  /** How the beats of a burst are made. */
  private case class Plan() extends Bundle {
    val length = UInt(8 bits) // beats less one
    val shift = UInt(config.beatByteBits bits)
    val firstStrobe, lastStrobe = Bits(config.beatBytes bits)
    /** The bytes of the last beat came with the word before. */
    val tail = Bool()
  }
  private val plan = plans.map { burst =>
    val plan = Plan()
    plan.length := burst.length
    plan.shift := burst.shift
    plan.firstStrobe := ByteStrobes.from(burst.start(config.beatByteBits - 1 downto 0))
    plan.lastStrobe := ByteStrobes.upTo(burst.stop(config.beatByteBits - 1 downto 0))
    plan.tail := burst.last && burst.stop(config.beatByteBits - 1 downto 0) < burst.shift
    plan
  }.m2sPipe(holdPayload = true)

  private val index = Reg(UInt(8 bits)) init 0
  private val firstBeat = RegInit(True)
  private val lastBeat = index === plan.length
  private val fromBefore = lastBeat && plan.tail
  private val words = io.words.s2mPipe() // their source does not wait for the memory's ready
  private val before = RegNextWhen(words.payload, words.fire)

  private val beats = cloneOf(io.axi.w)
  beats.valid := plan.valid && (words.valid || fromBefore)
  words.ready := plan.valid && beats.ready && !fromBefore
  plan.ready := beats.fire && lastBeat
  when(beats.fire) {
    index := lastBeat ? U(0) | index + 1
    firstBeat := lastBeat
  }
  // Byte 0 of the new word belongs `shift` bytes up: the window begins `shift` bytes before it in the two words.
  beats.data := ByteShift.window((words.payload ## before) >> 8, ~plan.shift, config.beatBytes)
  beats.strb := (plan.firstStrobe | B(config.beatBytes bits, default -> !firstBeat)) &
    (plan.lastStrobe | B(config.beatBytes bits, default -> !lastBeat))
  beats.last := lastBeat
  io.axi.w << beats.pipelined(StreamPipe.FULL)

  private val mark = marks.map(_.last).queue(16, latency = 1)
  private val responses = StreamJoin(io.axi.b, mark)
  private val failed = responses._1.resp(1) // SLVERR or DECERR
  private val failedBefore = RegInit(False)
  when(responses.fire)(failedBefore := !responses._2 && (failed || failedBefore))
  io.done << responses.takeWhen(responses._2).translateWith(failed || failedBefore).queue(limit, latency = 1).halfPipe()
}
