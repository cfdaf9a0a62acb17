// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.congestion

import downbeat.calculation.Calculators
import downbeat.config.DownbeatConfig
import downbeat.congestion._
import downbeat.engine.pipeline.{EnginePipeline, Signals, Stage}
import downbeat.lib.ecc.StateMemory
import downbeat.messages.{EventKind, TcpState}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Congestion: cwnd, ssthresh and the next departure, by the connection's start-up and steady policy.
  *
  * Step 0 makes the event that policies see. All policies of the build answer it by step 3, and the results of the two
  * that the connection chose are taken ([[PolicyFamily]]). [[WindowUpdate]] makes the windows of recovery and bounds
  * the result. Step 5 writes.
  */
class CongestionStage(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals)
    extends Stage(config, pipeline, signals, 3, HardType(CongestionState(config))) {
  import signals._
  private val Seq(s0, _, s2, s3, s4, s5) = steps
  private val kinds = CongestionEventKind

  private val priors = StateMemory(config.ecc, PriorState(config), config.flows)
  priors.addAttribute("no_rw_check") // events of one flow are too far apart to collide
  private val prior = pipeline.readSide(priors, address, address(FLOW), needed = _(LIVE)).word
  if (config.flows <= Stage.distributed) pipeline.staysUntilNext(prior)

  // ---- the event

  /** The application has chosen policies. Their policy states restart as their arguments, and they answer as to
    * `established`. The windows stay, but with a `start`. Any pending result is discarded.
    */
  private val change = new fetched.Area {
    private val sets = if (config.policiesChoose) LIVE && KIND === EventKind.setPolicies else False
    private val starts = if (config.hostStart) apply(STARTS) else False
    val keeps = insert(sets)
    val changes = insert(sets || starts)
    /** The policies' states before the event; those of a new connection are its arguments. */
    val startupState = restarted(before.startupState, PARAMETERS.startupArgument)
    val steadyState = restarted(before.steadyState, PARAMETERS.steadyArgument)
    private def restarted(state: Bits, argument: Bits) =
      insert((changes || OPENING) ? argument.resize(widthOf(state)) | state)
  }
  import change.{changes, keeps}

  private val kept = new s0.Area {
    val window = insert(before.window)
    val calculation = config.policiesCalculate generate insert(before.calculation)
    val flight = config.hostStart generate insert(before.flight)
    val synLost = config.hostStart generate insert(before.synLost)
  }

  /** The windows before the event, on the first step. */
  val windowBefore: Payload[Window] = kept.window

  /** A policy that the connection had before the event reads the estimated rates; on the first step. */
  val readsRates: Payload[Bool] = config.policiesEstimate generate new fetched.Area {
    private def reads(policies: PolicySet[Policy], index: UInt): Bool = {
      val readers =
        policies.present.zip(policies.numbers).collect { case (policy, number) if policy.estimatesRates => number }
      if (index == null || readers.isEmpty) Bool(readers.nonEmpty) else readers.map(index === _).orR
    }
    val estimates = insert(
      reads(config.startup, apply(before).startup) || reads(config.steady, apply(before).steady))
  }.estimates

  /** The event as policies see it. */
  val EVENT = Payload(CongestionEvent())
  private val calculation = config.policiesCalculate generate
    new CalculationControl(config, signals, kept.calculation, EVENT, changes, steps)

  private val describe = new s0.Area {
    private val loses = CONGESTION_KIND === kinds.loss || CONGESTION_KIND === kinds.timeout
    private val overfull = before.window.cwnd(47 downto 16) < FLIGHT
    EVENT.kind := LIVE ? apply(CONGESTION_KIND) | kinds.none()
    when(changes)(EVENT.kind := kinds.established)
    if (config.policiesCalculate) when(calculation.responds)(EVENT.kind := kinds.calculated)
    if (config.policiesEstimate)
      when(LIVE && KIND === EventKind.estimated && CONGESTION_KIND === kinds.none)(EVENT.kind := kinds.estimated)
    if (config.policiesMeasure)
      when(LIVE && KIND === EventKind.measured && CONGESTION_KIND === kinds.none)(EVENT.kind := kinds.measured)
    EVENT.startingUp := before.window.cwnd < before.window.ssthresh
    EVENT.ackedBytes := ACKED
    EVENT.uninflated := UNINFLATED
    EVENT.recovering := RECOVERING
    // A stale event: the memory may hold the state of a connection that is gone. It reports zero flight.
    EVENT.flight := Mux(!LIVE, U(0, 32 bits),
      Mux[UInt](loses && overfull, before.window.cwnd(47 downto 16), FLIGHT))
    EVENT.segmentSize := SEGMENT_SIZE
    EVENT.rttValid := RTT_VALID
    EVENT.rtt := RTT
    EVENT.rttFull := RTT_FULL
    EVENT.rttFirst := RTT_FIRST
    EVENT.rttMinimum := RTT_MINIMUM
    // A window under way has space for a pair.
    EVENT.initialWindow := keeps ? U(2, 8 bits) | (before.synLost ? U(1, 8 bits) | before.initialWindow)
    EVENT.initialSsthresh := before.handshake.ssthresh
    if (config.hostStart) when(STARTS)(EVENT.initialSsthresh := PARAMETERS.ssthresh)
    EVENT.sentProbe := MEASURED
    EVENT.sentAhead := AHEAD
    EVENT.probe := PROBE_ACK
    EVENT.arrival := STAMP.ns
    EVENT.repeated := DUPLICATE || CONGESTION_KIND === kinds.paired
    EVENT.rates := RATES
    EVENT.inline := INLINE

    val calculating = if (config.policiesCalculate) calculation.underWay else insert(False)
    val calculated = if (config.policiesCalculate) calculation.calculated else insert(Calculated.none)
  }

  /** The first window that the host has given the connection. */
  private val hostFlight = config.hostStart generate
    new HostFlight(config, signals, EVENT, kept.flight, kept.synLost, steps)

  // ---- the policies

  private val index = new s2.Area {
    private def chosen(parameter: UInt, own: => UInt): UInt =
      if (own == null) U(0, widthOf(parameter) bits) else (OPENING || changes) ? parameter | own
    val startup = insert {
      val startup = CombInit(chosen(PARAMETERS.startup, before.startup))
      if (config.hostStart) when(hostFlight.expired)(startup := config.standardStartup.get)
      startup
    }
    val steady = insert(chosen(PARAMETERS.steady, before.steady))
    /** Until the connection is established its policies are not used. */
    val handshakes = insert(STATE === TcpState.synSent || STATE === TcpState.synReceived)
    val stays = insert(OPENING || handshakes)
    /** The steady policy models the path. */
    val models = insert(config.steady.present.zip(config.steady.numbers).collect {
      case (policy, number) if policy.modelsPath => steady === number
    }.fold(False)(_ || _))
    /** The steady policy has its state of before the reduction again. */
    val restores = insert(EVENT.kind === kinds.undone && !OPENING && !models)
    val steadyStays = insert(stays && !restores)
  }
  val STARTUP: Payload[UInt] = index.startup
  val STEADY: Payload[UInt] = index.steady

  private val restored = new s3.Area {
    val steadyState = insert(prior.steadyState)
  }
  private def pipe(policyState: Payload[Bits]) = new PolicyPipe(
    steps.take(PolicyPipe.steps + 1), EVENT, kept.window, policyState, NOW, DELIVERY, describe.calculating,
    describe.calculated)
  private val startup = new PolicyFamily(config, config.startup, pipe(change.startupState), STARTUP,
    Seq(index.stays -> change.startupState))
  private val steady = new PolicyFamily(config, config.steady, pipe(change.steadyState), STEADY,
    Seq(index.steadyStays -> change.steadyState, index.restores -> restored.steadyState))
  if (config.policiesCalculate) calculation.choose(startup, steady)

  /** The policy whose windows count. */
  private val decide = new s2.Area {
    private val grows = EVENT.kind === kinds.acknowledged || EVENT.kind === kinds.paired
    private val ofStartup =
      if (config.policiesCalculate) EVENT.kind === kinds.calculated && calculation.calculated.ofStartup else False
    private val begins =
      EVENT.kind === kinds.established || EVENT.kind === kinds.restart && !index.models ||
        EVENT.kind === kinds.estimated
    val fromStartup = insert(begins || grows && EVENT.startingUp || ofStartup)
    /** The windows are those of a policy that models the path. */
    val ofModel = insert(index.models && !fromStartup)
    val counts = startup.selects.map(select => insert(select && fromStartup)) ++
      steady.selects.map(select => insert(select && !fromStartup))
  }

  private val results = new s3.Area {
    val window =
      insert(MuxOH.or(Vec(decide.counts.map(apply(_))), (startup.results ++ steady.results).map(apply(_).window)))
    val startupState = insert(startup.state)
    val steadyState = insert(steady.state)
    val startupPlan = config.policiesPace generate insert(startup.result.departure)
    val steadyPlan = config.policiesPace generate insert(steady.result.departure)
    val bounded = config.policiesBound generate insert(startup.result.bounded)
    val bound = config.policiesBound generate insert(Window.ofBytes(startup.result.bound))
    val retreats = config.policiesBound generate insert(startup.result.retreats)
  }

  private val windows =
    new WindowUpdate(config, signals, EVENT, before, prior, results.window, describe.calculated, keeps,
      Option(hostFlight),
      decide.fromStartup, decide.ofModel, index.handshakes,
      if (config.policiesBound) Some((results.bounded, results.bound)) else None, steps)
  import index.handshakes

  // ---- the departure, and the state after the event

  private val choose = new s4.Area {
    val plan = config.policiesPace generate {
      val ofStartup = results.startupPlan.pace =/= Pace.configured || results.startupPlan.inverted ||
        results.startupPlan.probe
      val otherwise = CombInit[DeparturePlan](results.steadyPlan)
      if (config.hostStart) when(hostFlight.plan.pace =/= Pace.configured)(otherwise := hostFlight.plan)
      insert(Mux[DeparturePlan](ofStartup, results.startupPlan, otherwise))
    }
    val synLost = insert(handshakes && (EVENT.kind === kinds.timeout || EVENT.kind === kinds.timeoutAgain))
  }

  private val update = new s5.Area {
    private val spacing = OPENING ? PARAMETERS.spacing | before.spacing
    if (config.policiesPace) DEPARTURE := choose.plan else DEPARTURE := DeparturePlan.configured
    when(handshakes)(DEPARTURE := DeparturePlan.configured)
    when(DEPARTURE.pace === Pace.configured)(DEPARTURE.time := spacing)

    val after = CongestionState(config)
    after.window := WINDOW
    after.startupState := results.startupState
    after.steadyState := results.steadyState
    if (after.startup != null) after.startup := STARTUP
    if (after.steady != null) after.steady := STEADY
    when(handshakes)(after.window := before.window)
    private val reduced = PriorState(config)
    reduced.cwnd := before.window.cwnd(46 downto 16)
    reduced.ssthresh := before.window.ssthresh(46 downto 16)
    reduced.steadyState := change.steadyState
    pipeline.behind(s5)(priors.write(FLOW, reduced, (OPENING || LIVE && EVENT.isLoss) && isValid))
    windows.growth.update(after, WINDOW)
    after.spacing := spacing
    after.initialWindow := OPENING ? PARAMETERS.initialWindow | before.initialWindow
    after.synLost := !OPENING && handshakes && (before.synLost || choose.synLost)
    if (config.policiesCalculate) after.calculation := calculation.after
    if (config.hostStart) after.flight := hostFlight.after(handshakes)
    when(OPENING)(after.handshake.open(PARAMETERS.ssthresh))
    write(after, LIVE || OPENING)

    val growthLimited = insert(after.growth.limited)
    val requested = insert(if (config.policiesCalculate) calculation.goes else False)
  }

  /** The start-up policy gives up a window that was not safe; none in builds without such a policy. */
  def retreats: Option[Payload[Bool]] = Option(results.retreats)
  /** For the record of the event: a window that is not used is bounded. */
  val growthLimited: Payload[Bool] = update.growthLimited
  /** For the record of the event: the window in segments that a start of the host sets; the start is too old. */
  val hostWindow: Payload[UInt] = config.hostStart generate hostFlight.shown
  val hostExpired: Payload[Bool] = config.hostStart generate hostFlight.expired

  // ---- long calculations

  /** A request goes to a unit with this event, on step 5. */
  val REQUESTED: Payload[Bool] = update.requested

  /** Connects the calculation units: which have space, and the requests to them. */
  def calculates(units: Calculators): Unit = {
    calculation.space := units.io.space
    units.io.request << calculation.request
  }
}
