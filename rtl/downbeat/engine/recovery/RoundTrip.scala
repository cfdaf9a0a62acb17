// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.EnginePipeline
import downbeat.time.Instant
import downbeat.wire.NearNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** Meaning of a connection's `mark`. */
object RttMark extends SpinalEnum {
  /** It has been reached: the next sample is the first of a round trip. */
  val none = newElement()
  /** SND.MAX at the last first sample of a round trip; with one segment timed at a time, the end of that one. */
  val round = newElement()
  /** SND.MAX when something was lost or sent again: nothing before it is timed (Karn). */
  val repair = newElement()
}

/** Round-trip time of a connection (RFC 6298): smoothed * 8 and variation * 4, ns; not `sampled`: the host's, or zeros.
  */
case class RoundTripState(config: DownbeatConfig) extends Bundle {
  val sampled = Bool()
  val smoothed8 = UInt(39 bits)
  val variation4 = UInt(38 bits)
  /** RTT_MINIMUM; and it is a full segment's. */
  val minimum = UInt(36 bits)
  val minimumFull = Bool()
  /** How often the timeout is doubled, until there is a sample (Karn). */
  val backOff = UInt(4 bits)
  /** When it was doubled last, low bits of TSval. */
  val expiredAt = UInt(16 bits)
  val marked = RttMark()
  val mark = NearNumber(config.sendNumberBits)
  /** The handshake's SYN was sent again: no path is known to be quicker than that. */
  val hesitant = Bool()
}

/** Estimates the round-trip time and the timeout (RFC 6298).
  *
  * The estimator is Jacobson's in integers of ns:
  *
  * err = R - smoothed8/8; smoothed8 += err; variation4 += |err| - variation4/4; RTO = smoothed8/8 + max(1 us,
  * variation4)
  *
  * The RTO that an event arms is made of the samples before it.
  *
  * A segment is timed from its departure to the arrival of the ACK at its end, both stamped at the wire ([[SendLog]]).
  * Policies and the smallest round trip take each sample; the estimator takes the first one of each round trip, for
  * which its gains are made. Such a round trip ends with an ACK of what was sent after its first sample. A loss, a
  * timeout or a retransmission ends the timing of all that is outstanding (Karn), and so does a stamp that the MAC
  * dropped, of its own segment. A timeout doubles the RTO, and only a sample ends that (RFC 6298 5, after 5.7).
  *
  * Without RACK (`noRack`) one segment is timed at a time, to the ACK that reaches its end, as in Jacobson's paper and
  * those after it: each sample is the first.
  *
  * A host's start may give the round trip of others: it makes the RTO until there is a sample, but not after a lost SYN.
  *
  * When acknowledged data was sent twice, timestamps tell which of both the ACK acknowledges (RFC 7323 4.1). An ACK of
  * something new that echoes what was sent since the timeout is a sample too, in ticks of TSval; a tick that has begun
  * counts. An echo of what was sent before the timeout is no sample: the peer may send it because its ACK was lost.
  *
  * The smallest round trip is that of full segments as soon as one has a sample: on a slow link a small segment, as that
  * of the handshake, is quicker than any that carries data.
  *
  * `timedOut` is known on step 2, `breaks` (something is lost) on step 5.
  */
class RoundTrip(
    val view: RecoveryView, pipeline: EnginePipeline, timedOut: Payload[Bool], breaks: Payload[Bool])
    extends Area {
  import view._
  import signals._
  private val minimumRto = U(Instant.nanoseconds(config.minimumRto), 39 bits)
  private val initialRto =
    U(Instant.nanoseconds(config.minimumRto).max(Instant.nanoseconds(1 sec)), 39 bits) // RFC 6298 2.1
  private val hesitantRto =
    U(Instant.nanoseconds(config.minimumRto).max(Instant.nanoseconds(3 sec)), 39 bits) // RFC 6298 5.7

  private val compare = new s0.Area {
    val single = insert(before.recovery.noRack)
    val reached = insert(!UNACKNOWLEDGED.isBefore(before.roundTrip.mark))
    val beyond = insert(before.roundTrip.mark.isBefore(UNACKNOWLEDGED))
    val smoothed = insert(before.roundTrip.smoothed8 >> 3)
    /** Without a sample it is the host's. */
    val known = insert(before.roundTrip.smoothed8.orR)
    val spread = insert(Mux(before.roundTrip.variation4 < 1000, U(1000, 38 bits), before.roundTrip.variation4))
    /** Ticks of 2^20 ns since what the ACK echoes. */
    val echoAge = insert(TIMESTAMP_VALUE - OPTIONS.timestampEcho)
    val sinceExpiry = insert(OPTIONS.timestampEcho.resize(16) - before.roundTrip.expiredAt)
    val echoes = insert(TIMESTAMPED && OPTIONS.timestampValid && before.roundTrip.backOff.orR && !ESTABLISHED)
  }
  private val starts = Payload(Bool())
  private val log = new SendLog(view, pipeline, compare.single, starts)
  import log.found

  private val prepare = new s1.Area {
    val echoCounts = insert(compare.echoes && !compare.echoAge(31 downto 15).orR && !compare.sinceExpiry.msb)
    val echoTime = insert((compare.echoAge.resize(16) + 1) @@ U(0, 20 bits))
    private val mark = before.roundTrip.marked
    private val single = mark === RttMark.round && compare.reached
    /** The ACK may be that of a segment that is timed. */
    val timed = insert(ADVANCED && Mux[Bool](compare.single, single, mark =/= RttMark.repair || compare.beyond))
    val isFirst = insert(compare.single || mark === RttMark.none || compare.beyond)
    val rto = insert(compare.smoothed.resize(40) + compare.spread)
    val synWasLost = insert(before.roundTrip.hesitant || ESTABLISHED && before.expiries.count.orR)
    val unknown = insert(!before.roundTrip.sampled && (!compare.known || synWasLost))
    val unsampledRto = insert(Mux(synWasLost, hesitantRto, initialRto))
    val variationDecay = insert(before.roundTrip.variation4 - (before.roundTrip.variation4 >> 2))
  }

  private val estimate = new s2.Area {
    val timeout = insert(Mux[UInt](
        prepare.unknown, prepare.unsampledRto,
        Mux(prepare.rto < minimumRto, minimumRto, prepare.rto.resize(39))))
    // After a lost SYN the first data has an RTO of its own.
    val backOff = insert(Mux(OPENING || ESTABLISHED, U(0, 4 bits),
        Mux(timedOut && before.roundTrip.backOff =/= 15, before.roundTrip.backOff + 1, before.roundTrip.backOff)))
  }
  /** RTO, neither backed off nor bounded above; how often it is doubled, unless there is a sample. On step 2. */
  val timeout: Payload[UInt] = estimate.timeout
  val backOff: Payload[UInt] = estimate.backOff

  private val sample = new s3.Area {
    private val isTimed = prepare.timed && found.departed && (compare.single || found.isIt)
    val taken = insert(isTimed || ADVANCED && prepare.echoCounts)
    val full = insert(isTimed && found.full)
    val isFirst = insert(prepare.isFirst || !isTimed)
    /** Its stamp was dropped: another segment is timed. */
    val unstamped = insert(compare.single && prepare.timed && !found.departed)
    val time = insert(Mux[UInt](isTimed, found.elapsed36, prepare.echoTime))
    val error = insert((time.resize(40) - compare.smoothed.resize(40)).asSInt)
    val isLess = insert(time < before.roundTrip.minimum)
  }
  /** The event has a sample; on step 3. */
  val sampled: Payload[Bool] = sample.taken

  private val smooth = new s4.Area {
    val smoothed8 = insert((before.roundTrip.smoothed8.asSInt.resize(41) + sample.error).asUInt.resize(39))
    private val decay = prepare.variationDecay.resize(40)
    private val error = sample.error.asUInt
    val variation4 = insert(Mux(sample.error.msb, decay - error, decay + error).resize(38))
    val lessens = insert(sample.taken &&
      Mux(before.roundTrip.minimumFull, sample.full && sample.isLess, sample.full || sample.isLess))
    starts := event.isSent && !RESENT && !AHEAD && before.roundTrip.marked === RttMark.none
  }

  /** On step 5. */
  val after = RoundTripState(config)
  private val update = new s5.Area {
    RTT_VALID := sample.taken
    RTT := sample.time
    RTT_FIRST := sample.isFirst

    private val kept = before.roundTrip
    RTT_MINIMUM := kept.minimum
    when(smooth.lessens)(RTT_MINIMUM := sample.time)
    when(OPENING)(RTT_MINIMUM.setAll())
    RTT_FULL := sample.full
    after.minimum := RTT_MINIMUM
    after.minimumFull := !OPENING && (kept.minimumFull || sample.taken && sample.full)
    after.hesitant := !OPENING && prepare.synWasLost
    after.sampled := !OPENING && (kept.sampled || sample.taken)
    after.smoothed8 := kept.smoothed8
    after.variation4 := kept.variation4
    when(OPENING)(opens())
    when(sample.taken && sample.isFirst) {
      after.smoothed8 := Mux[UInt](kept.sampled, smooth.smoothed8, sample.time << 3)
      after.variation4 := Mux[UInt](kept.sampled, smooth.variation4, (sample.time << 1).resize(38))
    }
    after.backOff := Mux[UInt](sample.taken, U(0, 4 bits), estimate.backOff)
    after.expiredAt := Mux(timedOut, TIMESTAMP_VALUE.resize(16), kept.expiredAt)
    after.marked := kept.marked
    after.mark := kept.mark
    when(compare.single) {
      when(starts) {
        after.marked := RttMark.round
        after.mark := low(event.sentEnd)
      }
      when(sample.taken || sample.unstamped || RESENT || breaks)(after.marked := RttMark.none)
    } otherwise {
      when(compare.beyond)(after.marked := RttMark.none)
      when(prepare.timed && sample.taken && sample.isFirst) {
        after.marked := RttMark.round
        after.mark := low(HIGHEST_SENT)
      }
      when(RESENT || breaks) {
        after.marked := RttMark.repair
        after.mark := low(HIGHEST_SENT)
      }
    }
    when(OPENING)(after.marked := RttMark.none)

    private def opens(): Unit = {
      val ofHost = if (config.hostStart) apply(PARAMETERS).start.roundTrip else U(0, 36 bits)
      after.smoothed8 := ofHost << 3
      after.variation4 := (ofHost << 1).resize(38)
    }
  }
}
