// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.messages.Transfer
import downbeat.wire.FrameBeat
import downbeat.wire.OnesComplement.{fold, foldLast}
import spinal.core._
import spinal.lib._

/** A beat of payload, zero beyond its end. */
case class PayloadBeat(bytes: Int) extends Bundle {
  val data = Bits(8 * bytes bits)
  val last = Bool()
}

/** The ones' complement sum of a frame's payload. */
case class PayloadSum() extends Bundle {
  val value = UInt(16 bits)
  /** The memory refused bytes of it: there is no payload. */
  val failed = Bool()
}

/** Fetches payload ahead of its frame, stores it and adds it up.
  *
  * A fetch is requested when the store has space for all of it, so the memory never waits. The store holds two of the
  * largest frames, with wide beats more: one leaves while the next ones come. The ones' complement sum of a frame (RFC 1071) is in `sums`
  * only when its whole payload is here. Payload that the memory refused ends here: its sum says so, and it does not
  * come out.
  */
case class TransmitPayloadStore(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val requests = slave(Stream(Transfer(config)))
    val fetch = master(Stream(Transfer(config)))
    val fetched = slave(Stream(FrameBeat(bytes = config.beatBytes)))
    /** Bytes of the frame were refused; read with its last beat. */
    val fetchFailed = in(Bool())
    val payload = master(Stream(PayloadBeat(config.beatBytes)))
    val sums = master(Stream(PayloadSum()))
  }
  noIoPrefix()

  private val frameBeats = (config.ownMss + config.beatBytes - 1) / config.beatBytes
  private val depth = (1 << log2Up(2 * frameBeats)) max TransmitPayloadStore.smallestDepth
  private val countBits = log2Up(depth + 1)

  // Space is what no fetch has been promised. It only grows while a request waits, so that a comparison one clock old
  // is safe.
  private val request = io.requests.queue(16).m2sPipe()
  private val beats = (request.length +^ (config.beatBytes - 1))(14 downto config.beatByteBits).resize(countBits)
  private val space = Reg(UInt(countBits bits)) init depth
  private val fits = RegInit(False)
  fits := request.valid && !(space < beats) && !request.fire
  io.fetch << request.continueWhen(fits)

  private val store = StreamFifo(PayloadBeat(config.beatBytes), depth)
  private val promised = io.fetch.fire ? beats | U(0, countBits bits)
  when(io.fetch.fire || store.io.pop.fire)(space := space - promised + U(store.io.pop.fire))

  private val masked = PayloadBeat(config.beatBytes)
  masked.last := io.fetched.last
  for (byte <- 0 until config.beatBytes)
    masked.data(8 * byte, 8 bits) := io.fetched.keep(byte) ? io.fetched.data(8 * byte, 8 bits) | B(0, 8 bits)
  store.io.push << io.fetched.translateWith(masked)

  // A verdict for each frame in the store, twice: for its payload and for its sum. As many have space as frames have.
  private val ended = Flow(Bool())
  ended.valid := io.fetched.fire && io.fetched.last
  ended.payload := io.fetchFailed
  private val verdict, sumVerdict = ended.toStream.queue(32)
  // A register both ways: the block RAM is slow, and `last` reaches far.
  private val stored = store.io.pop.m2sPipe().s2mPipe().continueWhen(verdict.valid)
  verdict.ready := stored.fire && stored.last
  io.payload << stored.throwWhen(verdict.payload).m2sPipe()

  // The sum, in words of the machine's byte order: RFC 1071 2(B) allows it if the result is swapped.
  private val words = masked.data.subdivideIn(16 bits).map(_.asUInt).toSeq
  private val tree = Iterator.iterate(BeatSums(words, io.fetched.last, io.fetched.fire))(_.added)
  private val beat = tree.find(_.sums.size == 1).get

  private val sum = Reg(UInt(16 + log2Up(words.size * frameBeats) bits))
  private val fresh = RegInit(True) // the next beat is a frame's first
  when(beat.valid) {
    sum := (fresh ? U(0) | sum).resize(sum.getWidth) + beat.sums.head
    fresh := beat.last
  }
  private val summed = Flow(UInt(sum.getWidth bits))
  summed.valid := RegNext(beat.valid && beat.last, False)
  summed.payload := sum

  private val folded = summed.map(fold).m2sPipe
  private val foldedTwice = folded.map(foldLast).m2sPipe
  private val swapped = foldedTwice.map(value => value(7 downto 0) @@ value(15 downto 8))
  // Never full: it has space for more frames than the queue of data entries that they belong to.
  private val sums = swapped.toStream.queue(32)
  sumVerdict.ready := sums.fire // it came earlier than the sum
  io.sums << sums.map { value =>
    val sum = PayloadSum()
    sum.value := value
    sum.failed := sumVerdict.payload
    sum
  }
}

object TransmitPayloadStore {
  /** Beats; a block RAM has so many words. */
  private val smallestDepth = 512
}

/** A beat whose words are added up in pairs, a register for each round. */
private case class BeatSums(sums: Seq[UInt], last: Bool, valid: Bool) {
  def added: BeatSums = BeatSums(
    Vec(sums.grouped(2).map(pair => pair(0) +^ pair(1)).toSeq).map(RegNextWhen(_, valid)).toSeq,
    RegNextWhen(last, valid), RegNext(valid, False))
}
