// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.config.DownbeatConfig
import downbeat.congestion.CongestionEventKind
import downbeat.engine.pipeline.{EnginePipeline, Signals, Stage}
import downbeat.messages.TcpState
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Recovery: duplicate ACKs, and after them SACK (RFC 6675) or NewReno (RFC 6582); the retransmission timer (RFC 6298),
  * the persist timer (RFC 9293 3.8.6.1) and the user timeout (3.8.3).
  *
  * [[LossDetection]] finds losses and [[RecoveryTimer]] keeps the timer. With SACK the scoreboard ([[SackScoreboard]])
  * says what is lost and what the peer holds ([[LossEstimate]]), and the window is not inflated. This file says what
  * sending and congestion follow.
  */
class RecoveryStage(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals)
    extends Stage(config, pipeline, signals, 1, HardType(RecoveryState(config))) {
  import signals._
  private val view = new RecoveryView(config, signals, before, steps)
  import view.{event, s0, s2, s3, s4, s5}

  private val kept = new s0.Area {
    val scoreboard = insert(before.scoreboard)
  }
  private val forget = Payload(Bool())
  private val board = new SackScoreboard(config, signals, kept.scoreboard, forget, steps)
  private val pairs = config.policiesPace generate new InvertedPairs(view)
  private val acknowledgesPair = if (config.policiesPace) pairs.acknowledges else s2.insert(False)
  private val early = new EarlyTimer(view)
  private val tail = new TailLossProbe(view, early)
  private val rack = new Rack(view, board, early, tail)
  private val undo = new Undo(view, tail)
  private val loss = new LossDetection(view, board, acknowledgesPair, tail, rack)
  private val timer = new RecoveryTimer(view, pipeline, loss, tail)
  private val idle = new IdleRestart(view, timer)
  private val userTimeout = new UserTimeout(view, timer.progresses)
  import loss.{ack, lost}
  import timer.{expiries, timedOut}

  /** Whether sending starts again at SND.UNA. */
  private val rewind = new s3.Area {
    // Data that the peer holds beyond SND.NXT is not in flight, so it adds no allowance to the window.
    forget := OPENING || timedOut || RESUMED || UNDONE || loss.compare.rewound
    REWIND := timedOut || expiries.meaning.probes || RESUMED || undo.fails
    FORWARD := UNDONE || undo.advances
    PROBE := expiries.meaning.probes || timedOut
  }

  /** The event for congestion if no loss is found; if several hold, the last in this list. */
  private val report = new s4.Area {
    GIVEN_UP := expiries.verdict.givesUp || userTimeout.expired
    val kind = Payload(CongestionEventKind())
    kind := CongestionEventKind.none
    when(idle.due)(kind := CongestionEventKind.restart)
    when(event.isSent && !RESENT && LENGTH.orR)(kind := CongestionEventKind.sent)
    when(acknowledgesPair)(kind := CongestionEventKind.paired)
    // An ACK that echoes a mark does not let the window grow (RFC 3168 6.1.2).
    when(ADVANCED && !CONGESTION_ECHOED)(kind := CongestionEventKind.acknowledged)
    when(loss.count.inflates)(kind := CongestionEventKind.duplicate)
    when(ack.partial)(kind := Mux(SELECTIVE, CongestionEventKind.none(), CongestionEventKind.partial()))
    when(ack.recovered || RESUMED && before.recovering)(kind := CongestionEventKind.recovered)
    when(ack.reduces)(kind := CongestionEventKind.loss)
    when(timedOut) {
      kind := Mux(expiries.verdict.isFirst, CongestionEventKind.timeout(), CongestionEventKind.timeoutAgain())
    }
    when(UNDONE)(kind := CongestionEventKind.undone)
    when(ESTABLISHED)(kind := CongestionEventKind.established)
    val restarts = insert(kind === CongestionEventKind.restart)
    val deflates = insert(timedOut && before.recovering)
  }
  private val tell = new s5.Area {
    CONGESTION_KIND := report.kind
    when(lost)(CONGESTION_KIND := CongestionEventKind.loss)
    UNINFLATED := !(lost && !SELECTIVE || report.deflates)
    TAIL_PROBE := tail.sent
  }
  /** A loss is judged by what the ACK that tells of it leaves outstanding (RFC 6675 5, 4.2). */
  private val flight = new Area {
    private val following = pipeline.nodes(pipeline.nodes.indexOf(s5) + 1)
    new following.Area {
      FLIGHT := Mux[UInt](lost, OUTSTANDING_BEFORE - ACKED, OUTSTANDING_BEFORE)
    }
  }

  private val resend = new s4.Area {
    // A loss leaves HighRxt as it is: what an earlier recovery has sent again beyond its end is on its way.
    val highRxt = insert(Mux(OPENING || timedOut || RESUMED || UNDONE, U(0, config.sendOffsetBits bits),
        Mux[UInt](loss.count.resendsFurther, view.flight.sentOffset, board.highRxt)))
  }

  private val earlyInterval = new s4.Area {
    val ns = insert(Mux[UInt](rack.begins, rack.interval.ns, tail.probes.interval))
  }

  private val update = new s5.Area {
    private val after = RecoveryState(config)
    loss.update(after, timedOut)
    timer.update(after)
    userTimeout.update(after)
    idle.update(after, report.restarts)
    for ((range, block) <- after.scoreboard.ranges.zip(board.ranges)) range.set(block)
    after.scoreboard.highRxt := Mux[UInt](rack.allLostAgain, U(0, config.sendOffsetBits bits), resend.highRxt)
    after.scoreboard.passed := Mux[UInt](rack.allLostAgain, U(0, config.sendOffsetBits bits), board.passed)
    after.dropped := board.drops || rack.allLostAgain || before.dropped && after.recovering && !rack.overtaken
    after.scoreboard.turn := Mux[UInt](OPENING, U(0, 2 bits), board.turn)
    if (config.policiesPace) after.pairs := pairs.after(forget = OPENING || lost || timedOut)
    // A handshake has no window that could be given back.
    private val isFirst = expiries.verdict.isFirst && !before.recovering && STATE =/= TcpState.synSent &&
      STATE =/= TcpState.synReceived
    private val open = !after.recovering && !board.ranges(0).valid && !after.tail.due && !after.tail.out &&
      !expiries.meaning.count.orR && !loss.compare.rewound && !RESUMED
    private val startsRecovering = after.recovering && (tail.probes.startsRecovering ||
      tail.probes.eligible && (lost || tail.probes.advancesRecovering && loss.count.nothingResent))
    private val probes = !rack.begins && (tail.probes.startsOpen && open || startsRecovering)
    tail.update(after, forgets = lost || timedOut || OPENING || RESUMED || UNDONE)
    rack.update(after, found = lost, ends = before.recovering && !after.recovering)
    undo.update(after, reduces = lost || timedOut && isFirst, settles = loss.ack.reduces || timedOut,
      tries = timedOut && isFirst && !loss.compare.rewound && !event.shut)
    early.update(after, timedOut, probes, reorders = rack.begins && !lost,
      stops = rack.stops || lost && rack.runs || event.shut, earlyInterval.ns)
    after.recovery := Mux(OPENING, PARAMETERS.recovery, before.recovery)
    write(after, LIVE || OPENING)
    RECOVERING := after.recovering
    // DELIVERED does not count what is dropped, so that PRR would wait for it.
    PROPORTIONAL := after.recovering && SELECTIVE && !before.recovery.noPrr && !after.dropped
    SCOREBOARD_FULL := board.ranges.last.valid && after.retransmitQuota.orR
    val mayRetransmit = insert(after.retransmitQuota.orR || PROPORTIONAL)
    val duplicates = insert(after.duplicates)
    val losses = LossesByTime(
      waits = insert(rack.mode.on && after.rack.seen),
      all = insert(rack.mode.on && after.recovering && !after.rack.seen),
      end = insert(after.rack.lostEnd))
    val probe = ProbeWanted(again = insert(after.tail.due && after.tail.again),
      next = insert(after.tail.due && !after.tail.again))
  }

  /** A tail loss probe has left; a reduction is taken back. */
  val probed, undone = Bool()
  private val tally = new s5.Area {
    probed := isValid && tail.sent
    undone := isValid && UNDONE
  }

  // The scoreboard's consequences for sending, found while later stages work
  private val estimate = new LossEstimate(
    config, signals,
    LossEvidence(board.ranges, resend.highRxt, board.passed, RECOVERING, update.mayRetransmit,
      update.duplicates, update.losses, update.probe, board.heldBefore, undo.allowance),
    pipeline.nodes.drop(pipeline.nodes.indexOf(s5)))
}
