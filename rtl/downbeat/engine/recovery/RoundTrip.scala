// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.config.DownbeatConfig
import downbeat.time.{Instant, NearInstant}
import downbeat.wire.NearNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** State of the one segment that is being timed. */
object RttTiming extends SpinalEnum {
  val none, awaitsDeparture, running = newElement()
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
  val timing = RttTiming()
  val timedFull = Bool()
  val timedEnd = NearNumber(config.sendNumberBits)
  val timedStart = NearInstant(config.roundTripBits)
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
  * One segment is timed at a time, from its departure to the arrival of its ACK, both stamped at the wire. A
  * retransmission ends the timing (Karn), and so does the ACK of a segment whose departure has no stamp: the MAC's was
  * dropped. A timeout doubles the RTO, and only a sample ends that (RFC 6298 5, after 5.7).
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
class RoundTrip(val view: RecoveryView, timedOut: Payload[Bool], breaks: Payload[Bool]) extends Area {
  import view._
  import signals._
  private val minimumRto = U(Instant.nanoseconds(config.minimumRto), 39 bits)
  private val initialRto =
    U(Instant.nanoseconds(config.minimumRto).max(Instant.nanoseconds(1 sec)), 39 bits) // RFC 6298 2.1
  private val hesitantRto =
    U(Instant.nanoseconds(config.minimumRto).max(Instant.nanoseconds(3 sec)), 39 bits) // RFC 6298 5.7

  private val compare = new s0.Area {
    val timedReached = insert(!UNACKNOWLEDGED.isBefore(before.roundTrip.timedEnd))
    val timedDeparts = insert(before.roundTrip.timedEnd.isAt(SEQUENCE))
    val elapsed = insert(STAMP.instant.low(config.roundTripBits).units - before.roundTrip.timedStart.units)
    val smoothed = insert(before.roundTrip.smoothed8 >> 3)
    /** Without a sample it is the host's. */
    val known = insert(before.roundTrip.smoothed8.orR)
    val spread = insert(Mux(before.roundTrip.variation4 < 1000, U(1000, 38 bits), before.roundTrip.variation4))
    /** Ticks of 2^20 ns since what the ACK echoes. */
    val echoAge = insert(TIMESTAMP_VALUE - OPTIONS.timestampEcho)
    val sinceExpiry = insert(OPTIONS.timestampEcho.resize(16) - before.roundTrip.expiredAt)
    val echoes = insert(TIMESTAMPED && OPTIONS.timestampValid && before.roundTrip.backOff.orR && !ESTABLISHED)
  }

  private val sample = new s1.Area {
    private val isTimed = before.roundTrip.timing === RttTiming.running && compare.timedReached
    private val echoCounts = compare.echoes && !compare.echoAge(31 downto 15).orR && !compare.sinceExpiry.msb
    val taken = insert(ADVANCED && (isTimed || echoCounts))
    val full = insert(isTimed && before.roundTrip.timedFull)
    /** Its stamp was dropped: another segment is timed. */
    val unstamped = insert(
      ADVANCED && before.roundTrip.timing === RttTiming.awaitsDeparture && compare.timedReached)
    private val saturated = compare.elapsed(config.roundTripBits - 1 downto 36).orR
    private val timed = Mux(saturated, U((BigInt(1) << 36) - 1, 36 bits), compare.elapsed.resize(36))
    val time = insert(Mux(isTimed, timed, (compare.echoAge.resize(16) + 1) @@ U(0, 20 bits)))
    val variationDecay = insert(before.roundTrip.variation4 - (before.roundTrip.variation4 >> 2))
    val rto = insert(compare.smoothed.resize(40) + compare.spread)
    val synWasLost = insert(before.roundTrip.hesitant || ESTABLISHED && before.expiries.count.orR)
    val unknown = insert(!before.roundTrip.sampled && (!compare.known || synWasLost))
    val unsampledRto = insert(Mux(synWasLost, hesitantRto, initialRto))
  }

  private val estimate = new s2.Area {
    val error = insert((sample.time.resize(40) - compare.smoothed.resize(40)).asSInt)
    val timeout = insert(Mux[UInt](
        sample.unknown, sample.unsampledRto,
        Mux(sample.rto < minimumRto, minimumRto, sample.rto.resize(39))))
    private val isLess = sample.time < before.roundTrip.minimum
    val counts = insert(sample.taken &&
      Mux(before.roundTrip.minimumFull, sample.full && isLess, sample.full || isLess))
    // After a lost SYN the first data has an RTO of its own.
    val backOff = insert(Mux(OPENING || ESTABLISHED || sample.taken, U(0, 4 bits),
        Mux(timedOut && before.roundTrip.backOff =/= 15, before.roundTrip.backOff + 1, before.roundTrip.backOff)))
  }
  /** RTO, neither backed off nor bounded above; how often it is doubled. On step 2. */
  val timeout: Payload[UInt] = estimate.timeout
  val backOff: Payload[UInt] = estimate.backOff

  private val smooth = new s3.Area {
    val smoothed8 = insert((before.roundTrip.smoothed8.asSInt.resize(41) + estimate.error).asUInt.resize(39))
    val errorMagnitude = insert(apply(estimate.error).abs.resize(38))
  }

  private val timing = new s4.Area {
    val variation4 = insert(sample.variationDecay + smooth.errorMagnitude)
    val ends = insert(sample.taken || sample.unstamped || RESENT)
    /** In an inverted pair, the half that leaves second is timed: the ACK that advances past the first waits for it. */
    val starts = insert(event.isSent && !RESENT && !AHEAD && before.roundTrip.timing === RttTiming.none)
  }

  /** On step 5. */
  val after = RoundTripState(config)
  private val update = new s5.Area {
    RTT_VALID := sample.taken
    RTT := sample.time

    private val kept = before.roundTrip
    RTT_MINIMUM := kept.minimum
    when(estimate.counts)(RTT_MINIMUM := sample.time)
    when(OPENING)(RTT_MINIMUM.setAll())
    RTT_FULL := sample.full
    after.minimum := RTT_MINIMUM
    after.minimumFull := !OPENING && (kept.minimumFull || sample.taken && sample.full)
    after.hesitant := !OPENING && sample.synWasLost
    after.sampled := !OPENING && (kept.sampled || sample.taken)
    after.smoothed8 := kept.smoothed8
    after.variation4 := kept.variation4
    when(OPENING)(opens())
    when(sample.taken) {
      after.smoothed8 := Mux[UInt](kept.sampled, smooth.smoothed8, sample.time << 3)
      after.variation4 := Mux[UInt](kept.sampled, timing.variation4, (sample.time << 1).resize(38))
    }
    after.backOff := estimate.backOff
    after.expiredAt := Mux(timedOut, TIMESTAMP_VALUE.resize(16), kept.expiredAt)
    after.timing := kept.timing
    after.timedFull := kept.timedFull
    after.timedEnd := kept.timedEnd
    after.timedStart := kept.timedStart
    when(timing.starts) {
      after.timing := RttTiming.awaitsDeparture
      after.timedFull := !(LENGTH < SEGMENT_SIZE.resize(32))
      after.timedEnd := low(event.sentEnd)
    }
    when(event.isDeparted && kept.timing === RttTiming.awaitsDeparture && compare.timedDeparts) {
      after.timing := RttTiming.running
      after.timedStart := STAMP.instant.low(config.roundTripBits)
    }
    when(OPENING || timing.ends || breaks)(after.timing := RttTiming.none)

    private def opens(): Unit = {
      val ofHost = if (config.hostStart) apply(PARAMETERS).start.roundTrip else U(0, 36 bits)
      after.smoothed8 := ofHost << 3
      after.variation4 := (ofHost << 1).resize(38)
    }
  }
}
