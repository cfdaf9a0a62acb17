// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.congestion.CongestionEventKind
import downbeat.messages.{EventKind, TcpState}
import downbeat.time.{Instant, NearInstant}
import downbeat.wire.{NearNumber, SequenceNumber}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** What recovery keeps of a connection. */
case class RecoveryState(config: DownbeatConfig) extends Bundle {
  private def number(): NearNumber = NearNumber(config.sendNumberBits)
  // Loss recovery (RFC 6582)
  val duplicates = UInt(2 bits) // up to three
  val recovering = Bool()
  /** An ACK of part of the data has restarted the timer in this recovery already. */
  val partial = Bool()
  val recover = number() // SND.MAX when data was last sent again
  val retransmit = Bool()
  /** Lost segments that may go again before another ACK tells of something new. */
  val retransmitQuota = UInt(2 bits)
  val scoreboard = Scoreboard(config)
  val pairs = config.policiesPace generate InvertedPairsState(config)
  /** SND.MAX when the window was last reduced for a mark (RFC 3168 6.1.2: once a window). */
  val echoed = number()
  val roundTrip = RoundTripState(config)
  // The timer: retransmission, or persist when nothing is outstanding
  val armed = Bool()
  val deadline = NearInstant(config.deadlineBits, config.deadlineUnit)
  val expiries = ExpiryState()
  /** The connection is given up when nothing has been acknowledged until then; both in units of 2^30 ns. */
  val userTimeout = UInt(16 bits) // zero: never
  val userTimeoutDeadline = UInt(18 bits)
}

/** Recovery: duplicate ACKs, and after them SACK (RFC 6675) or NewReno (RFC 6582), the retransmission timer (RFC 6298), the persist
  * timer (RFC 9293 3.8.6.1) and the user timeout (3.8.3).
  *
  * What the timer begins with is [[RoundTrip]]'s, what it means that it expires [[Expiries]]'. With SACK the scoreboard says what is lost and
  * what the peer holds ([[LossEstimate]]), and the window is not inflated. Each ACK in recovery that tells of something new lets two lost
  * segments go again, and none lets a burst go (RFC 6937 3: what was delivered, and a segment more). Of RFC 6675's NextSeg the rules 1 and
  * 2 are here; instead of its rescue (rule 4), an ACK of part of the data sends the next hole again if nothing from there on was, as NewReno does.
  */
class RecoveryStage(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals)
    extends Stage(config, pipeline, signals, 1, HardType(RecoveryState(config))) {
  import signals._
  private val Seq(s0, s1, s2, s3, s4, s5) = steps
  private val maximumRto = U(Instant.nanoseconds(config.maximumRto), 39 bits)

  // ---- step 0: facts

  private val past = s0(before)
  private val heard = s0.insert(s0(LIVE) && s0(KIND) === EventKind.segment)
  private val beyondEchoed = s0.insert(past.echoed.isBefore(s0(UNACKNOWLEDGED)))
  private val withinUserTimeout = s0.insert((s0(NOW).ns(47 downto 30) - past.userTimeoutDeadline).msb)
  private val scores = s0.insert(past.scoreboard)
  private val live = s0.insert(s0(LIVE) && s0(STATE) =/= TcpState.closed)
  private val isSent = s0.insert(s0(LIVE) && s0(KIND) === EventKind.sent && (s0(LENGTH).orR || s0(FLAGS).syn || s0(FLAGS).fin))
  private val isDeparted = s0.insert(s0(LIVE) && s0(KIND) === EventKind.departed)
  private val isTimer = s0.insert(s0(LIVE) && s0(KIND) === EventKind.timer)
  private val beforeRecover = s0.insert(s0(UNACKNOWLEDGED).isBefore(past.recover))
  /** After a timeout, until all is acknowledged that was sent before it. */
  private val rewound = s0.insert(s0(UNACKNOWLEDGED).isBefore(past.recover) && !past.recovering)
  private val beyondRecover = s0.insert(past.recover.isBefore(s0(UNACKNOWLEDGED)))
  private val untilDeadline = s0.insert(past.deadline.since(s0(NOW))) // signed
  private val deadlineBefore = s1.insert(s1(NOW) + s1(untilDeadline))
  private val deadlineAhead = s1.insert(!s1(untilDeadline).msb && s1(untilDeadline).orR)
  private val unsent = s0.insert(s0(WRITTEN).since(s0(UNACKNOWLEDGED)))
  /** The peer has said that it takes nothing; before its SYN it has said nothing. */
  private val shut = s0.insert(!s0(SEND_WINDOW).orR && s0(STATE) =/= TcpState.synSent)
  private val narrow = s0.insert(s0(SEND_WINDOW) < s0(SEGMENT_SIZE))
  private val smallWindow = s0.insert(s0(SEND_WINDOW).resize(16))
  private val sentEnd = s0.insert(s0(SEQUENCE) + (s0(LENGTH) + s0(FLAGS).syn.asUInt + s0(FLAGS).fin.asUInt))

  private val forget = Payload(Bool())
  private val board = new SackScoreboard(config, signals, scores, forget, s0, s1, s2, s3, s4)
  private val pairs = config.policiesPace generate new InvertedPairs(config, signals, s0.insert(past.pairs), s0, s1, s2, s5)
  private val answersPair = if (config.policiesPace) pairs.answers else s2.insert(False)

  // ---- step 1: loss and expiry

  private val something = s1.insert(s1(OUTSTANDING).orR)
  /** Data or FIN waits and the window will not take it, with nothing in flight that could open it. */
  private val blocked = s1.insert(
    !s1(OUTSTANDING).orR && (s1(unsent).orR || s1(FINISHING)) && !s1(unsent).msb &&
      (s1(shut) || s1(narrow) && s1(smallWindow) < s1(unsent)))
  /** The peer says that our data was marked: as good as a loss, once a window (RFC 3168 6.1.2). */
  private val reduces = s1.insert(
    s1(live) && s1(CONGESTION_ECHOED) && !s1(before).recovering && s1(beyondRecover) && s1(beyondEchoed) && s1(OUTSTANDING_BEFORE).orR)
  private val advancedPart = s1.insert(s1(ADVANCED) && s1(before).recovering && s1(beforeRecover))
  private val recovered = s1.insert(s1(ADVANCED) && s1(before).recovering && !s1(beforeRecover))
  private val expired = s1.insert(s1(isTimer) && s1(live) && s1(before).armed && !s1(deadlineAhead))
  private val impatient = s1.insert(
    s1(isTimer) && s1(live) && s1(before).armed && s1(before).userTimeout.orR && !s1(withinUserTimeout))
  private val sentOffset = s1.insert(s1(sentEnd).since(s1(UNACKNOWLEDGED)).resize(config.sendOffsetBits))

  private val expiries = new Expiries(config, signals, before, s1, s2, s3, s5, expired, something, shut, heard)
  import expiries.{probes, timedOut}
  private val breaksTiming = Payload(Bool())
  private val roundTrip = new RoundTrip(config, signals, before, steps, isSent, isDeparted, sentEnd, timedOut, breaksTiming)

  // ---- step 2: what tells of a loss

  /** With SACK those that say something new, whatever else they bring (RFC 6675 2). */
  private val counts = s2.insert(
    s2(live) && !s2(shut) && !s2(answersPair) && (s2(SELECTIVE) ? (s2(REPEATED) && s2(board.isNews)) | s2(DUPLICATE)))
  private val third = s2.insert(s2(counts) && s2(before).duplicates === 2)
  private val mayLose = s2.insert(s2(counts) && !s2(before).recovering && s2(beyondRecover))
  private val inflates = s2.insert(s2(counts) && s2(before).recovering && !s2(SELECTIVE))
  private val duplicates = s2.insert(
    (s2(ADVANCED) || s2(OPENING)) ? U(0, 2 bits) |
      ((s2(counts) && s2(before).duplicates =/= 3) ? (s2(before).duplicates + 1) | s2(before).duplicates))
  private val nothingResent = s2.insert(!s2(board.highRxt).orR)
  private val resendsFurther = s2.insert(
    s2(isSent) && s2(RESENT) && s2(before).recovering && s2(board.highRxt) < s2(sentOffset))
  /** A recovery's first retransmission has left: its ACK is due no sooner than a timeout from now (RFC 6298 5). */
  private val resends = s2.insert(s2(resendsFurther) && s2(nothingResent) && !s2(before).partial)
  private val retransmitQuota = s2.insert(s2(before).retransmitQuota - (s2(isSent) && s2(RESENT) && s2(before).retransmitQuota.orR).asUInt)
  private val doublings = s2.insert(s2(expiries.persists) ? s2(expiries.count) | s2(roundTrip.backOff))

  // ---- step 3: is something lost; back-off

  private val lost = s3.insert(s3(mayLose) && (s3(third) || s3(SELECTIVE) && s3(board.firstIsLost)))
  // What the peer holds beyond SND.NXT is not in flight, so it gives no credit.
  s3(forget) := s3(OPENING) || s3(timedOut) || s3(rewound)
  s3(REWIND) := s3(timedOut) || s3(probes) || s3(RESUMED)
  s3(PROBE) := s3(probes) || s3(timedOut)
  private val backedOff = s3.insert(s3(roundTrip.timeout).resize(54) |<< s3(doublings))

  // ---- step 4: congestion's view; the deadline

  s4(GIVEN_UP) := s4(expiries.givesUp) || s4(impatient)
  s4(UNINFLATED) := !(s4(lost) && !s4(SELECTIVE) || s4(timedOut) && s4(before).recovering)
  s4(CONGESTION_KIND) := CongestionEventKind.none
  when(s4(isSent) && !s4(RESENT) && s4(LENGTH).orR)(s4(CONGESTION_KIND) := CongestionEventKind.sent)
  when(s4(answersPair))(s4(CONGESTION_KIND) := CongestionEventKind.paired)
  // An ACK that echoes a mark does not let the window grow (RFC 3168 6.1.2).
  when(s4(ADVANCED) && !s4(CONGESTION_ECHOED))(s4(CONGESTION_KIND) := CongestionEventKind.acknowledged)
  when(s4(inflates))(s4(CONGESTION_KIND) := CongestionEventKind.duplicate)
  when(s4(advancedPart)) {
    s4(CONGESTION_KIND) := s4(SELECTIVE) ? CongestionEventKind.none() | CongestionEventKind.partial()
  }
  when(s4(recovered))(s4(CONGESTION_KIND) := CongestionEventKind.recovered)
  when(s4(lost) || s4(reduces))(s4(CONGESTION_KIND) := CongestionEventKind.loss)
  when(s4(timedOut)) {
    s4(CONGESTION_KIND) := s4(expiries.isFirst) ? CongestionEventKind.timeout() | CongestionEventKind.timeoutAgain()
  }
  when(s4(ESTABLISHED))(s4(CONGESTION_KIND) := CongestionEventKind.established)

  // A loss leaves it: what an earlier recovery has sent again beyond its end is on its way.
  private val highRxt = s4.insert((s4(OPENING) || s4(timedOut)) ? U(0, config.sendOffsetBits bits) |
    (s4(resendsFurther) ? s4(sentOffset) | s4(board.highRxt)))
  private val first = s4(before)
  private val rto = s4.insert((s4(backedOff) > maximumRto) ? maximumRto | s4(backedOff).resize(39))
  private val needed = s4(live) && (s4(something) || s4(blocked)) || s4(OPENING)
  private val starts = s4.insert(
    s4(expired) || s4(expiries.resumes) || s4(resends) || needed && !first.armed ||
      s4(ADVANCED) && !(s4(advancedPart) && first.partial && !s4(SELECTIVE)))
  s4(RECOVERY_ARMED) := needed && !s4(OPENING)
  private val userTimeout = s4.insert(s4(OPENING) ? s4(PARAMETERS).userTimeout | first.userTimeout)
  private val lastAcknowledged = s4.insert(SequenceNumber(s4(UNACKNOWLEDGED).value - 1))
  private val progresses = s4.insert(s4(ADVANCED) || s4(OPENING) || needed && !first.armed)
  s4(breaksTiming) := s4(timedOut) || s4(lost) || s4(advancedPart)

  // ---- step 5: write

  private val rounded = s4.insert(s4(NOW) + U((1 << config.deadlineUnit) - 1))
  s5(RECOVERY_DEADLINE) := s5(starts) ? (s5(rounded) + s5(rto)).whole(config.deadlineUnit) | s5(deadlineBefore)
  s5(USER_TIMEOUT_ARMED) := s5(RECOVERY_ARMED) && s5(userTimeout).orR
  private val userTimeoutDeadline = s5.insert(
    s5(progresses) ? (s5(NOW).ns(47 downto 30) + s5(userTimeout) + 1) | s5(before).userTimeoutDeadline) // the present unit has begun
  s5(USER_TIMEOUT_DEADLINE) := Instant(s5(userTimeoutDeadline) @@ U(0, 30 bits))
  private def low(number: SequenceNumber): NearNumber = number.low(config.sendNumberBits)
  private val next = RecoveryState(config)
  private val last = s5(before)
  next.duplicates := s5(timedOut) ? U(0, 2 bits) | s5(duplicates)
  next.recovering := !s5(OPENING) && !s5(timedOut) && !s5(recovered) && (last.recovering || s5(lost))
  next.partial := !s5(lost) && (last.partial || s5(advancedPart))
  // SND.UNA takes along what it has left behind, so that no number is compared with one that is not near.
  next.recover := (s5(ADVANCED) && s5(beyondRecover)) ? low(s5(lastAcknowledged)) | last.recover
  when(s5(lost) || s5(timedOut) || s5(RESUMED) && s5(STATE) =/= TcpState.synReceived)(next.recover := low(s5(HIGHEST_SENT)))
  when(s5(OPENING))(next.recover := low(s5(INITIAL_SEQUENCE)))
  next.retransmit := s5(RETRANSMIT)
  next.retransmitQuota := (s5(counts) || s5(advancedPart)) ? U(2, 2 bits) | s5(retransmitQuota)
  s5(RETRANSMIT) := !s5(OPENING) && !s5(timedOut) && !s5(recovered) &&
    ((s5(lost) || s5(advancedPart)) && (!s5(SELECTIVE) || s5(nothingResent)) || last.retransmit && !s5(RESENT))
  next.roundTrip := roundTrip.after
  next.armed := s5(RECOVERY_ARMED)
  next.deadline := s5(RECOVERY_DEADLINE).low(config.deadlineBits, config.deadlineUnit)
  next.expiries := expiries.after
  next.userTimeout := s5(userTimeout)
  next.userTimeoutDeadline := s5(userTimeoutDeadline)
  next.echoed := s5(OPENING) ? low(s5(INITIAL_SEQUENCE)) | (s5(reduces) ? low(s5(HIGHEST_SENT)) |
    ((s5(ADVANCED) && s5(beyondEchoed)) ? low(s5(lastAcknowledged)) | last.echoed))
  for ((kept, block) <- next.scoreboard.ranges.zip(s5(board.ranges))) kept.set(block)
  next.scoreboard.highRxt := s5(highRxt)
  next.scoreboard.passed := s5(board.passed)
  next.scoreboard.turn := s5(board.turn)
  if (config.policiesPace) next.pairs := pairs.after(forget = s5(OPENING) || s5(lost) || s5(timedOut))
  write(next, s5(LIVE) || s5(OPENING))

  // ---- beyond: what the scoreboard means for sending, while later stages work

  private val estimate = new LossEstimate(
    config, signals, board.ranges, highRxt, board.passed, s5.insert(next.recovering), s5.insert(next.retransmitQuota.orR),
    s5.insert(next.duplicates), pipeline.nodes.drop(pipeline.nodes.indexOf(s5)))
}
