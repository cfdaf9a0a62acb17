// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.messages.{ReceivedSegment, TimeWaitNumbers}
import downbeat.time.Instant
import spinal.core._

/** The meaning of a segment for a connection in TIME-WAIT: RFC 9293 3.10.7.4, and RFC 6191 for a SYN. Behind the peer's
  * FIN nothing more can come, so RCV.WND is zero:
  *  - a RST changes nothing (RFC 1337 3, fix 1)
  *  - a SYN that cannot be an old one requests the next connection of the 4-tuple: by a later timestamp, or the first
  *    one; otherwise by a greater sequence number
  *  - the peer's FIN again is acknowledged, and 2 MSL restart
  *  - an empty segment at RCV.NXT is not answered; nor is one without the timestamps that were agreed upon (RFC 7323
  *    3.2)
  *  - anything else is answered by an ACK; unless it has data, once in 2^27 ns (RFC 5961 7).
  *
  * The results are registers, four clocks behind the inputs.
  */
class TimeWaitVerdict(segment: ReceivedSegment, numbers: TimeWaitNumbers, timer: TimeWaitTimer, now: Instant)
    extends Area {
  private def isPositive(distance: UInt): Bool = !distance.msb && distance.orR
  import segment.{flags, options}

  private val distance = new Area {
    private val span = RegNext(segment.length.resize(15) + flags.fin.asUInt)
    val start = RegNext(segment.sequence.since(numbers.received))
    val stop = RegNext(start + span)
    val timestamp = RegNext(options.timestampValue - numbers.recent)
  }

  private val compare = new Area {
    val startsAhead = RegNext(isPositive(distance.start))
    val startsExact = RegNext(!distance.start.orR)
    val stopsExact = RegNext(!distance.stop.orR)
    val isLater = RegNext(isPositive(distance.timestamp))
    val isSame = RegNext(!distance.timestamp.orR)
    val hasData = RegNext(segment.length.orR)
    val requests = RegNext(flags.syn && !flags.ack && !flags.rst)
    val timestamps = RegNext(numbers.timestamped && options.timestampValid)
    val firstTimestamps = RegNext(!numbers.timestamped && options.timestampValid)
    val lacksTimestamps = RegNext(numbers.timestamped && !options.timestampValid && !flags.syn)
    val mayChallenge = RegNext(timer.challenged =/= TimeWaitTimer.interval(now))
  }
  import compare._

  private val isOld = timestamps && !isLater && !isSame
  private val finAgain = flags.fin && !flags.syn && stopsExact && !isOld
  private val expected = startsExact && !hasData && !flags.fin && !flags.syn && !isOld
  private val limited = !finAgain && (!hasData || flags.syn)

  /** A SYN for the next connection. */
  val succeeds: Bool = RegNext(
    requests && (timestamps ? (isLater || isSame && startsAhead) | (startsAhead || firstTimestamps)))
  /** It gets an ACK, unless it makes the next connection; within the limit; or the limit holds the ACK back. */
  private val due = !flags.rst && !lacksTimestamps && !expected
  val acknowledged: Bool = RegNext(due && (!limited || mayChallenge))
  val suppressed: Bool = RegNext(due && limited && !mayChallenge)
  val restarts: Bool = RegNext(due && finAgain)
  val spends: Bool = RegNext(due && limited)
}
