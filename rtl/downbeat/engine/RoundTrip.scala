// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.time.{Instant, NearInstant}
import downbeat.wire.{NearNumber, SequenceNumber}
import spinal.core._
import spinal.lib.misc.pipeline._

/** How far the one segment that is being timed has come. */
object RttTiming extends SpinalEnum {
  val none, awaitsDeparture, running = newElement()
}

/** Round-trip time of a connection (RFC 6298): smoothed * 8 and variation * 4, ns. */
case class RoundTripState(config: DownbeatConfig) extends Bundle {
  val sampled = Bool()
  val smoothed8 = UInt(39 bits)
  val variation4 = UInt(38 bits)
  /** The timeout is doubled so often, until there is a sample (Karn). */
  val backOff = UInt(4 bits)
  /** When it was doubled last, low bits of TSval. */
  val expiredAt = UInt(16 bits)
  val timing = RttTiming()
  val timedEnd = NearNumber(config.sendNumberBits)
  val timedStart = NearInstant(config.roundTripBits)
  /** The handshake's SYN had to go again: no path is known to be quicker than that. */
  val hesitant = Bool()
}

/** The round-trip time and the timeout that follows from it (RFC 6298).
  *
  * The estimator is Jacobson's in integers of ns: err = R - smoothed8/8; smoothed8 += err; variation4 += |err| - variation4/4;
  * RTO = smoothed8/8 + max(1 us, variation4). The RTO that an event arms is made of the samples before it.
  * One segment is timed at a time, from its departure to the arrival of its ACK, both stamped at the wire; a
  * retransmission ends the timing (Karn). A timeout doubles the RTO, and only a sample ends that (RFC 6298 5, after 5.7). When what is
  * acknowledged has been sent twice, timestamps tell which of both it answers (RFC 7323 4.1): an ACK of something new that echoes what was
  * sent since the timeout is a sample too, in ticks of TSval, one that has begun counted. What was sent before it is none: a peer may
  * echo that because its ACK was lost.
  *
  * `isSent`, `isDeparted` and `sentEnd` (one past what was sent) are known on step 0, `timedOut` on step 2, `breaks` (something is
  * lost) on step 4.
  */
class RoundTrip(
    config: DownbeatConfig, signals: Signals, before: Payload[RecoveryState], steps: Seq[Node],
    isSent: Payload[Bool], isDeparted: Payload[Bool], sentEnd: Payload[SequenceNumber], timedOut: Payload[Bool], breaks: Payload[Bool])
    extends Area {
  import signals._
  private val Seq(s0, s1, s2, s3, s4, s5) = steps
  private def past(node: Node): RoundTripState = node(before).roundTrip
  private val minimumRto = U(Instant.nanoseconds(config.minimumRto), 39 bits)
  private val initialRto = U(Instant.nanoseconds(config.minimumRto).max(Instant.nanoseconds(1 sec)), 39 bits) // RFC 6298 2.1

  private val hesitantRto = U(Instant.nanoseconds(config.minimumRto).max(Instant.nanoseconds(3 sec)), 39 bits) // RFC 6298 5.7

  private val timedReached = s0.insert(!s0(UNACKNOWLEDGED).isBefore(past(s0).timedEnd))
  private val timedDeparts = s0.insert(past(s0).timedEnd.isAt(s0(SEQUENCE)))
  private val elapsed = s0.insert(s0(STAMP).instant.low(config.roundTripBits).units - past(s0).timedStart.units)
  private val smoothed = s0.insert(past(s0).smoothed8 >> 3)
  private val spread = s0.insert((past(s0).variation4 < 1000) ? U(1000, 38 bits) | past(s0).variation4)

  private val echoed = s0.insert(s0(TIMESTAMP_VALUE) - s0(OPTIONS).timestampEcho) // ticks of 2^20 ns
  private val sinceExpiry = s0.insert(s0(OPTIONS).timestampEcho.resize(16) - past(s0).expiredAt)
  private val echoes = s0.insert(s0(TIMESTAMPED) && s0(OPTIONS).timestampValid && past(s0).backOff.orR && !s0(ESTABLISHED))

  private val isTimed = past(s1).timing === RttTiming.running && s1(timedReached)
  private val echoCounts = s1(echoes) && !s1(echoed)(31 downto 15).orR && !s1(sinceExpiry).msb
  private val sampleTaken = s1.insert(s1(ADVANCED) && (isTimed || echoCounts))
  private val saturated = s1(elapsed)(config.roundTripBits - 1 downto 36).orR
  private val timed = saturated ? U((BigInt(1) << 36) - 1, 36 bits) | s1(elapsed).resize(36)
  private val sample = s1.insert(isTimed ? timed | ((s1(echoed).resize(16) + 1) @@ U(0, 20 bits)))
  private val variationDecay = s1.insert(past(s1).variation4 - (past(s1).variation4 >> 2))
  private val rtoRaw = s1.insert(s1(smoothed).resize(40) + s1(spread))

  private val synWasLost = s1.insert(past(s1).hesitant || s1(ESTABLISHED) && s1(before).expiries.count.orR)
  private val unsampledRto = s1.insert(s1(synWasLost) ? hesitantRto | initialRto)

  private val error = s2.insert((s2(sample).resize(40) - s2(smoothed).resize(40)).asSInt)
  /** Not backed off, and not bounded above. */
  val timeout = s2.insert(
    !past(s2).sampled ? s2(unsampledRto) | ((s2(rtoRaw) < minimumRto) ? minimumRto | s2(rtoRaw).resize(39)))

  /** How often the RTO of this event is doubled. After a lost SYN the first data has an RTO of its own. */
  val backOff = s2.insert((s2(OPENING) || s2(ESTABLISHED) || s2(sampleTaken)) ? U(0, 4 bits) |
    ((s2(timedOut) && past(s2).backOff =/= 15) ? (past(s2).backOff + 1) | past(s2).backOff))

  private val smoothedNext = s3.insert((past(s3).smoothed8.asSInt.resize(41) + s3(error)).asUInt.resize(39))
  private val errorMagnitude = s3.insert(s3(error).abs.resize(38))

  private val variationNext = s4.insert(s4(variationDecay) + s4(errorMagnitude))
  private val ends = s4.insert(s4(sampleTaken) || s4(breaks) || s4(RESENT))
  /** Of an inverted pair the second half: the ACK that advances past the first waits for it. */
  private val starts = s4.insert(s4(isSent) && !s4(RESENT) && !s4(AHEAD) && past(s4).timing === RttTiming.none)

  s5(RTT_VALID) := s5(sampleTaken)
  s5(RTT) := s5(sample)

  /** On step 5. */
  val after = RoundTripState(config)
  private val last = past(s5)
  after.hesitant := !s5(OPENING) && s5(synWasLost)
  after.sampled := !s5(OPENING) && (last.sampled || s5(sampleTaken))
  after.smoothed8 := last.smoothed8
  after.variation4 := last.variation4
  when(s5(sampleTaken)) {
    after.smoothed8 := last.sampled ? s5(smoothedNext) | (s5(sample) << 3)
    after.variation4 := last.sampled ? s5(variationNext) | (s5(sample) << 1).resize(38)
  }
  after.backOff := s5(backOff)
  after.expiredAt := s5(timedOut) ? s5(TIMESTAMP_VALUE).resize(16) | last.expiredAt
  after.timing := last.timing
  after.timedEnd := last.timedEnd
  after.timedStart := last.timedStart
  when(s5(starts)) {
    after.timing := RttTiming.awaitsDeparture
    after.timedEnd := s5(sentEnd).low(config.sendNumberBits)
  }
  when(s5(isDeparted) && last.timing === RttTiming.awaitsDeparture && s5(timedDeparts)) {
    after.timing := RttTiming.running
    after.timedStart := s5(STAMP).instant.low(config.roundTripBits)
  }
  when(s5(OPENING) || s5(ends))(after.timing := RttTiming.none)
}
