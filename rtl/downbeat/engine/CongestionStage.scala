// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.calculation.Calculators
import downbeat.config.DownbeatConfig
import downbeat.congestion._
import downbeat.messages.{EventKind, TcpState}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** What congestion keeps of a connection: the windows, a policy state for either policy, and what the connection was opened with. During the
  * handshake ssthresh is the one that it begins with, and cwnd counts segments.
  */
case class CongestionState(config: DownbeatConfig) extends Bundle {
  val window = Window()
  val startupState = Bits(CongestionStage.policyStateBits(config.startupPolicies) bits)
  val steadyState = Bits(CongestionStage.policyStateBits(config.steadyPolicies) bits)
  val startup = (config.startupPolicies.size > 1) generate UInt(config.startupBits bits)
  val steady = (config.steadyPolicies.size > 1) generate UInt(config.steadyBits bits)
  val spacing = UInt(56 bits)
  val calculation = config.policiesCalculate generate CalculationState()
}

object CongestionStage {
  /** The largest policy state of the build's policies. */
  def policyStateBits(policies: Seq[Policy]): Int = policies.map(_.stateBits).max
}

/** Congestion: cwnd and ssthresh, by the connection's start-up and steady policy.
  *
  * All policies of the build answer every event on step 3; step 3 takes the answer of those that the connection chose. Step 4 is
  * the part that RFC 6582 fixes for all of them: the window in recovery and after a timeout. Step 5 bounds the result:
  * 2 SMSS <= ssthresh, SMSS <= cwnd, neither above 1 GiB.
  */
class CongestionStage(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals)
    extends Stage(config, pipeline, signals, 3, HardType(CongestionState(config))) {
  import signals._
  private val Seq(s0, s1, s2, s3, s4, s5) = steps
  private val kinds = CongestionEventKind

  // ---- step 0: the event as policies see it

  val EVENT = Payload(CongestionEvent())
  private val event = s0(EVENT)
  event.kind := s0(LIVE) ? s0(CONGESTION_KIND) | kinds.none()
  /** The application has chosen policies: their policy states restart as what they are told, and both are asked as with `established`; the windows
    * stay. What a policy was calculating is nobody's.
    */
  val CHANGES: Payload[Bool] =
    fetched.insert(if (config.policiesChoose) fetched(LIVE) && fetched(KIND) === EventKind.setPolicies else False)
  when(s0(CHANGES))(event.kind := kinds.established)
  private val calculation = config.policiesCalculate generate
    new CalculationControl(config, signals, s0.insert(s0(before).calculation), EVENT, CHANGES, steps)
  if (config.policiesCalculate) when(s0(calculation.tells))(event.kind := kinds.calculated)
  event.startingUp := s0(before).window.cwnd < s0(before).window.ssthresh
  event.ackedBytes := s0(ACKED)
  event.uninflated := s0(UNINFLATED)
  private val loses = s0(CONGESTION_KIND) === kinds.loss || s0(CONGESTION_KIND) === kinds.timeout
  private val overfull = s0(before).window.cwnd(47 downto 16) < s0(OUTSTANDING_BEFORE)
  // What no connection has left in the memory is nobody's flight.
  event.flight := !s0(LIVE) ? U(0, 32 bits) | ((loses && overfull) ? s0(before).window.cwnd(47 downto 16) | s0(OUTSTANDING_BEFORE))
  event.segmentSize := s0(SEGMENT_SIZE)
  event.rttValid := s0(RTT_VALID)
  event.rtt := s0(RTT)
  event.rttMinimum := s0(RTT_MINIMUM)
  event.initialWindow := s0(CHANGES) ? U(2, 8 bits) | s0(before).window.cwnd(23 downto 16) // a window under way has space for a pair
  event.initialSsthresh := s0(before).window.ssthresh(47 downto 16)
  event.sentProbe := s0(MEASURED)
  event.sentAhead := s0(AHEAD)
  event.probe := s0(PROBE_ANSWER)
  private val windowBefore = s0.insert(s0(before).window)

  // ---- steps 0 to 3: the policies

  private val calculating = if (config.policiesCalculate) calculation.underWay else s0.insert(False)
  private val calculated = if (config.policiesCalculate) calculation.calculated else s0.insert(Calculated.none)

  private def answers(policies: Seq[Policy], word: Payload[Bits]): Seq[Payload[PolicyAnswer]] = policies.map { policy =>
    val own = s0.insert(s0(word).resize(policy.stateBits))
    policy.build(new PolicyPipe(steps.take(PolicyPipe.steps + 1), EVENT, windowBefore, own, NOW, calculating, calculated))
  }
  private def told(word: Bits, argument: Bits): Payload[Bits] = fetched.insert(fetched(CHANGES) ? argument.resize(widthOf(word)) | word)
  private val startupBefore = told(fetched(before).startupState, fetched(PARAMETERS).startupArgument)
  private val steadyBefore = told(fetched(before).steadyState, fetched(PARAMETERS).steadyArgument)
  private val startupAnswers = answers(config.startupPolicies, startupBefore)
  private val steadyAnswers = answers(config.steadyPolicies, steadyBefore)
  /** The only policy of its kind has no index. */
  private def chosenIndex(told: UInt, kept: => UInt): UInt =
    if (kept == null) U(0, widthOf(told) bits) else (s2(OPENING) || s2(CHANGES)) ? told | kept
  val STARTUP = s2.insert(chosenIndex(s2(PARAMETERS).startup, s2(before).startup))
  val STEADY = s2.insert(chosenIndex(s2(PARAMETERS).steady, s2(before).steady))

  /** For each policy whether it is the connection's; one always is. */
  private def selects(policies: Seq[Policy], index: UInt): Seq[Payload[Bool]] =
    policies.indices.map(i => s2.insert(if (i == policies.size - 1) index >= i else index === i))
  private val startupSelects = selects(config.startupPolicies, s2(STARTUP))
  private val steadySelects = selects(config.steadyPolicies, s2(STEADY))

  private def asked(policy: Policy, answer: PolicyAnswer): Calculation =
    if (policy.calculator.isEmpty) Calculation.none(config.requestBits) else answer.calculation.widened(config.requestBits)

  private def chosen(policies: Seq[Policy], all: Seq[Payload[PolicyAnswer]], select: Seq[Payload[Bool]], policyStateBits: Int): PolicyAnswer = {
    val padded = policies.zip(all).map { case (policy, answer) =>
      val wide = PolicyAnswer(policyStateBits, config.policiesPace, config.requestBits)
      wide.window := s3(answer).window
      wide.policyState := s3(answer).policyState.resize(policyStateBits)
      if (config.policiesPace) wide.departure := (if (policy.paces) s3(answer).departure else DeparturePlan.configured)
      if (config.policiesCalculate) wide.calculation := asked(policy, s3(answer))
      wide
    }
    if (padded.size == 1) padded.head else MuxOH.or(Vec(select.map(s3(_))), padded)
  }
  private val startup = chosen(config.startupPolicies, startupAnswers, startupSelects, CongestionStage.policyStateBits(config.startupPolicies))
  private val steady = chosen(config.steadyPolicies, steadyAnswers, steadySelects, CongestionStage.policyStateBits(config.steadyPolicies))

  private val grows = s2(EVENT).kind === kinds.acknowledged || s2(EVENT).kind === kinds.paired
  private val ofStartup =
    if (config.policiesCalculate) s2(EVENT).kind === kinds.calculated && s2(calculation.calculated).ofStartup else False
  private val fromStartup = s2.insert(s2(EVENT).kind === kinds.established || grows && s2(EVENT).startingUp || ofStartup)
  private val answered = s3.insert {
    val counts = startupSelects.map(select => s2.insert(s2(select) && s2(fromStartup))) ++
      steadySelects.map(select => s2.insert(s2(select) && !s2(fromStartup)))
    MuxOH.or(Vec(counts.map(s3(_))), (startupAnswers ++ steadyAnswers).map(s3(_).window))
  }
  private val startupState = s3.insert(startup.policyState)
  private val steadyState = s3.insert(steady.policyState)

  // ---- steps 0 to 4: recovery (RFC 6582)

  private val segment = s1.insert(Window.ofBytes(s1(SEGMENT_SIZE)))
  private val inflated = s2.insert(s2(before).window.cwnd + s2(segment))
  private val remains = s1.insert((s1(before).window.cwnd -^ Window.ofBytes(s1(ACKED))).asSInt)
  private val deflated = s2.insert(s2(remains).msb ? U(0, 48 bits) | s2(remains).asUInt.resize(48))
  private val partialSegment = s2.insert((s2(ACKED) < s2(SEGMENT_SIZE)) ? U(0, 48 bits) | s2(segment))
  private val afterPartial = s3.insert(s3(deflated) + s3(partialSegment))
  /** Not SND.MAX - SND.UNA: what an inverted pair has left out is not in flight. */
  private val left = s0.insert(s0(OUTSTANDING_BEFORE) - s0(ACKED))
  private val flightAfter = s1.insert(
    (s1(left).asSInt < s1(SEGMENT_SIZE).resize(32).asSInt) ? s1(SEGMENT_SIZE).resize(32) | s1(left))
  private val flightAndOne = s2.insert(Window.ofBytes(s2(flightAfter) + s2(SEGMENT_SIZE)))
  private val afterFull = s3.insert((s3(flightAndOne) < s3(before).window.ssthresh) ? s3(flightAndOne) | s3(before).window.ssthresh)
  private val threeSegments = s2.insert(s2(segment) + (s2(segment) |<< 1))

  private val settled = Payload(Window())
  s4(settled) := s4(answered)
  switch(s4(EVENT).kind) {
    is(kinds.none, kinds.sent)(s4(settled) := s4(before).window)
    is(kinds.duplicate)(keepThreshold(s4(inflated)))
    is(kinds.partial)(keepThreshold(s4(afterPartial)))
    is(kinds.recovered)(keepThreshold(s4(afterFull)))
    is(kinds.timeoutAgain)(keepThreshold(s4(segment)))
    is(kinds.timeout) {
      s4(settled).cwnd := s4(segment)
      // In a recovery more is outstanding than the window that the loss was seen with.
      when(!s4(EVENT).uninflated && s4(before).window.ssthresh < s4(answered).ssthresh)(s4(settled).ssthresh := s4(before).window.ssthresh)
    }
    if (config.policiesCalculate)
      is(kinds.calculated)(when(s4(calculation.calculated).stale)(s4(settled) := s4(before).window))
    is(kinds.loss)(s4(settled).cwnd := s4(answered).ssthresh + (s4(EVENT).uninflated ? U(0, 48 bits) | s4(threeSegments)))
  }
  when(s4(CHANGES))(s4(settled) := s4(before).window)
  /** Policies are not asked before the connection is made: their states are what it was opened with. */
  private val handshakes = s4.insert(s4(STATE) === TcpState.synSent || s4(STATE) === TcpState.synReceived)
  when(s4(handshakes)) {
    s4(settled).cwnd := 0
    s4(settled).ssthresh := 0
  }
  private def keepThreshold(cwnd: UInt): Unit = {
    s4(settled).cwnd := cwnd
    s4(settled).ssthresh := s4(before).window.ssthresh
  }

  // ---- step 5: bounds, and write

  private def bounded(value: UInt, floor: UInt): UInt = {
    val ceiling = Window.ofBytes(U(Window.maximumBytes, 32 bits))
    value(47 downto 46).orR ? ceiling | ((value < floor) ? floor | value)
  }
  private val twoSegments = s4.insert(s4(segment) |<< 1)
  s5(WINDOW).cwnd := bounded(s5(settled).cwnd, s5(segment))
  s5(WINDOW).ssthresh := bounded(s5(settled).ssthresh, s5(twoSegments))
  private val spacing = s5(OPENING) ? s5(PARAMETERS).spacing | s5(before).spacing
  if (config.policiesPace) {
    val ofStartup = s3.insert(startup.departure)
    val ofSteady = s3.insert(steady.departure)
    val startupAsks = s4(ofStartup).pace =/= Pace.configured || s4(ofStartup).inverted
    val asked = s4.insert(startupAsks ? s4(ofStartup) | s4(ofSteady))
    s5(DEPARTURE) := s5(asked)
  } else s5(DEPARTURE) := DeparturePlan.configured
  when(s5(handshakes))(s5(DEPARTURE) := DeparturePlan.configured)
  when(s5(DEPARTURE).pace === Pace.configured)(s5(DEPARTURE).time := spacing)

  /** A connection that lost its SYN starts with one segment (RFC 5681 3.1). */
  private val synLost = s4.insert(
    s4(handshakes) && (s4(EVENT).kind === kinds.timeout || s4(EVENT).kind === kinds.timeoutAgain))
  private val next = CongestionState(config)
  next.window := s5(WINDOW)
  next.startupState := s5(handshakes) ? s5(startupBefore) | s5(startupState)
  next.steadyState := s5(handshakes) ? s5(steadyBefore) | s5(steadyState)
  if (next.startup != null) next.startup := s5(STARTUP)
  if (next.steady != null) next.steady := s5(STEADY)
  when(s5(handshakes))(next.window := s5(before).window)
  when(s5(synLost))(next.window.cwnd := Window.ofBytes(U(1)))
  next.spacing := spacing
  if (config.policiesCalculate) next.calculation := calculation.after
  when(s5(OPENING)) {
    next.window.cwnd := Window.ofBytes(s5(PARAMETERS).initialWindow)
    next.window.ssthresh := Window.ofBytes(s5(PARAMETERS).ssthresh)
    next.startupState := s5(PARAMETERS).startupArgument.resized
    next.steadyState := s5(PARAMETERS).steadyArgument.resized
  }
  write(next, s5(LIVE) || s5(OPENING))

  // ---- long calculations

  if (config.policiesCalculate) {
    def asks(answer: PolicyAnswer, policies: Seq[Policy], choice: UInt): (Calculation, UInt) = {
      val indices = CalculationControl.indices(config, policies)
      (answer.calculation, if (indices.size == 1) indices.head else Vec(indices)(choice))
    }
    calculation.ask(asks(startup, config.startupPolicies, s3(STARTUP)), asks(steady, config.steadyPolicies, s3(STEADY)))
  }
  /** What the units have space for, and what goes to them; on step 5, whether something does. */
  def calculates(units: Calculators): Unit = {
    calculation.space := units.io.space
    units.io.request << calculation.request
  }
  val ASKED: Payload[Bool] = s5.insert(if (config.policiesCalculate) calculation.goes else False)
}
