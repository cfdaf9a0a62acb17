// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.report

import downbeat.config.DownbeatConfig
import downbeat.congestion.{CongestionEventKind, Window}
import downbeat.lib.WideMemory
import downbeat.lib.ecc.StateMemory
import downbeat.messages.{FlowReference, PathPhase, PathReport, TcpState}
import downbeat.time.Instant
import spinal.core._
import spinal.lib._

/** An event of a live connection, as it leaves the engine. */
case class PathEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val time = Instant()
  /** The connection is established with this event. */
  val established = Bool()
  val state = TcpState()
  val kind = CongestionEventKind()
  val ackedBytes = UInt(32 bits)
  val rttValid = Bool()
  val rtt = UInt(36 bits)
  /** The sample is the first of its round trip. */
  val rttFirst = Bool()
  val segmentSize = UInt(16 bits)
  /** A loss is being repaired, after the event. */
  val recovering = Bool()
  /** A start-up policy has retreated. */
  val retreats = Bool()
  /** After the event. */
  val window = Window()
}

/** The reporter's state of a connection. */
case class PathState(config: DownbeatConfig) extends Bundle {
  val generation = UInt(config.generationBits bits)
  val phase = PathPhase()
  val cwnd = UInt(32 bits)
  val smoothed8 = UInt(39 bits)
  val variation4 = UInt(38 bits)
  val smallestRtt = UInt(36 bits)
  val averageWindow = UInt(48 bits)
  /** Bytes acknowledged since cwnd changed; all ones: that or more. */
  val sinceGrowth = UInt(32 bits)
  val losses, restarts, retreats = UInt(8 bits)
  val lossTime = Instant()
  val lossWindow = UInt(32 bits)
  val lossInAvoidance = Bool()
  val acked = UInt(48 bits)
  val acks = UInt(24 bits)
  val reported = Instant()
  /** The last report has gone. */
  val ended = Bool()
}

/** Follows what each connection learns of its path, beside the engine, and says when it is worth a report: at the
  * establishment, at each change of phase, with a loss, a timeout, a restart and a retreat, at the end, and otherwise
  * once a round trip.
  *
  * variation4 += |R - smoothed8 / 8| - variation4 / 4, then smoothed8 += R - smoothed8 / 8, as
  * [[downbeat.engine.recovery.RoundTrip]] has them. The averaged window takes cwnd as
  * it was before the ACK: awnd += (cwnd - awnd) 131 / 65536, truncated toward zero (0.002; Yu, thesis, p. 30).
  *
  * A policy without a division adds whole segments to cwnd. `growth` is the fraction between them: sinceGrowth / cwnd, by
  * restoring division, a bit on each of the steps 4 to 7.
  *
  * An event enters in any clock; those of one flow are at least eight clocks apart, and the state is written before.
  */
case class PathReporter(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val events = slave(Flow(PathEvent(config)))
    val reports = master(Flow(PathReport(config)))
    val idle = out(Bool())
  }
  noIoPrefix()
  private val kinds = CongestionEventKind

  private val states = WideMemory(StateMemory(config.ecc, PathState(config), config.flows))

  /** The event on each step, from its entry on. */
  private val steps = Seq.iterate(io.events, 6)(_.m2sPipe())
  private def next[T <: Data](value: T): T = RegNext(value)

  // ---- step 1 and 2: the state comes out of its memory

  private val read = states.readSync(io.events.reference.flow, io.events.valid)
  private val before = next(read)
  private val event = steps(2)

  private val classify = new Area {
    val begins = event.established
    private val loss = event.kind === kinds.loss || event.kind === kinds.timeout
    val loses = loss && !begins
    val acknowledges = event.ackedBytes.orR && !begins
    val restarts = event.kind === kinds.restart && !begins
    val ends = event.state === TcpState.closed
    val counts = event.state =/= TcpState.synSent && event.state =/= TcpState.synReceived
    /** A connection that has never been established has nothing to tell. */
    val known = begins || before.generation === event.reference.generation && !before.ended
    val cwnd = event.recovering ? event.window.ssthresh | event.window.cwnd
    val growing = event.window.cwnd < event.window.ssthresh
    val sinceReport = event.time.ns - before.reported.ns
    val smoothed = before.smoothed8 >> 3
    /** cwnd - awnd, signed. */
    val distance = ((False ## before.cwnd ## B(0, 16 bits)).asUInt - before.averageWindow.resize(49)).asSInt
    val acked = before.acked + event.ackedBytes
    val sinceGrowth = before.sinceGrowth +^ event.ackedBytes
    val smaller = event.rtt < before.smallestRtt || !before.smallestRtt.orR || begins
    /** A connection begins with zeros; in registers they cost nothing. */
    val state = CombInit(before).allowOverride()
    when(begins) {
      for (rtt <- Seq(state.smoothed8, state.variation4, state.smallestRtt)) rtt := 0
      for (count <- Seq(state.losses, state.restarts, state.retreats, state.acked, state.acks)) count := 0
      state.lossTime.ns := 0
      state.lossWindow := 0
      state.lossInAvoidance := False
    }
  }

  // ---- step 3: phase, and the magnitude of the distance

  private val third = new Area {
    val event = steps(3)
    val before = next(classify.state)
    val begins = next(classify.begins)
    val loses = next(classify.loses)
    val acknowledges = next(classify.acknowledges)
    val restarts = next(classify.restarts)
    val ends = next(classify.ends)
    val tells = next(classify.counts && classify.known)
    val cwnd = next(classify.cwnd)
    val acked = next(classify.acked)
    val smaller = next(classify.smaller)
    val sinceGrowth = UInt(32 bits)
    sinceGrowth := next(classify.sinceGrowth).sat(1)
    when(begins || cwnd(47 downto 16) =/= before.cwnd)(sinceGrowth := 0)
    val sinceReport = next(classify.sinceReport)
    val smoothed = next(classify.smoothed)
    val phase = PathPhase()
    phase := PathPhase.avoidance
    when(next(classify.growing))(phase := PathPhase.startup)
    when(event.recovering)(phase := PathPhase.recovery)
    val negative = next(classify.distance.msb)
    val magnitude = next(classify.distance).abs.resize(48)
    val error = (event.rtt.resize(40) - smoothed.resize(40)).asSInt
    val lapsed = smoothed.orR && !(sinceReport < smoothed)
  }

  // ---- step 4: 131 times it, and what is due

  private val fourth = new Area {
    val event = steps(4)
    val before = next(third.before)
    val begins = next(third.begins)
    val loses = next(third.loses)
    val acknowledges = next(third.acknowledges)
    val restarts = next(third.restarts)
    val ends = next(third.ends)
    val tells = next(third.tells)
    val cwnd = next(third.cwnd)
    val acked = next(third.acked)
    val smaller = next(third.smaller)
    val phase = next(third.phase)
    val negative = next(third.negative)
    private val magnitude = next(third.magnitude)
    val step = ((magnitude << 7) + (magnitude << 1) +^ magnitude).resize(57) >> 16
    private val error = next(third.error)
    val smoothed8 = (before.smoothed8.resize(41) + error.asUInt.resize(41)).resize(39)
    val deviation = error.abs.resize(38)
    val decayed4 = before.variation4 - (before.variation4 >> 2)
    val due = begins || loses || restarts || event.retreats || ends || next(third.lapsed) || phase =/= before.phase
  }

  private val growth = new Area {
    private val window = Seq.iterate(next(third.cwnd)(47 downto 16), 4)(next(_))
    private val begun = next(third.sinceGrowth)
    private val avoids = next(third.phase) === PathPhase.avoidance && begun < window.head
    private def step(rest: UInt, cwnd: UInt): (Bool, UInt) = {
      val twice = rest << 1
      val bit = !(twice < cwnd.resize(33))
      (bit, bit ? (twice - cwnd).resize(32) | twice.resize(32))
    }
    private val (bit3, rest3) = step(begun, window.head)
    private val (bit2, rest2) = step(next(rest3), window(1))
    private val (bit1, rest1) = step(next(rest2), window(2))
    private val (bit0, _) = step(next(rest1), window(3))
    private def later(bit: Bool, clocks: Int): Bool = Seq.iterate(bit, clocks + 1)(next(_)).last
    /** On step 7. */
    val sixteenths =
      later(avoids, 3) ? (later(bit3, 3) ## later(bit2, 2) ## later(bit1, 1) ## bit0).asUInt | U(0, 4 bits)
  }

  // ---- step 5: the state after the event

  private val last = new Area {
    private val event = steps(5)
    private val before = next(fourth.before)
    private val begins = next(fourth.begins)
    private val cwnd = next(fourth.cwnd)
    private val step = next(fourth.step).resize(48)
    private val due = next(fourth.due)
    private val tells = next(fourth.tells)
    private val sampled = before.smoothed8.orR
    private val loses = next(fourth.loses)
    private val smoothed8 = next(fourth.smoothed8)
    private val variation4 = next(fourth.decayed4) + next(fourth.deviation)
    private val smaller = next(fourth.smaller)
    private val acked = next(fourth.acked)
    private val negative = next(fourth.negative)

    val after = CombInit(before).allowOverride()
    after.phase := next(fourth.phase)
    after.cwnd := cwnd(47 downto 16)
    after.sinceGrowth := next(next(third.sinceGrowth))
    after.ended := next(fourth.ends)
    after.generation := event.reference.generation
    when(event.rttValid) {
      when(event.rttFirst || begins) {
        after.smoothed8 := sampled ? smoothed8 | (event.rtt << 3)
        after.variation4 := sampled ? variation4 | (event.rtt << 1).resize(38)
      }
      when(smaller)(after.smallestRtt := event.rtt)
    }
    when(next(fourth.acknowledges)) {
      after.acked := acked
      after.acks := before.acks + 1
      after.averageWindow := negative ? (before.averageWindow - step) | (before.averageWindow + step)
    }
    when(loses) {
      after.losses := before.losses + 1
      after.lossTime := event.time
      after.lossWindow := before.cwnd
      after.lossInAvoidance := before.phase === PathPhase.avoidance
    }
    when(next(fourth.restarts))(after.restarts := before.restarts + 1)
    when(event.retreats && !begins)(after.retreats := before.retreats + 1)
    when(due)(after.reported := event.time)
    when(begins)(after.averageWindow := cwnd)
    states.write(event.reference.flow, after, event.valid && tells)

    val report = Flow(PathReport(config))
    report.valid := event.valid && tells && due
    report.payload.assignSomeByName(after)
    report.reference := event.reference
    report.time := event.time
    report.closed := next(fourth.ends)
    report.segmentSize := event.segmentSize
    report.ssthresh := event.window.ssthresh(47 downto 16)
    report.smoothedRtt := after.smoothed8 >> 3
    report.rttVariation := (after.variation4 >> 2).sat(4)
    report.growth := 0
  }

  // ---- steps 6 and 7: the report waits for its fraction

  private val waiting = Seq.iterate(last.report, 3)(_.m2sPipe())
  private val whole = waiting.last.map { report =>
    val complete = CombInit(report).allowOverride()
    complete.growth := growth.sixteenths
    complete
  }
  io.reports << whole.m2sPipe()

  io.idle := !(steps ++ waiting).map(_.valid).orR && !io.reports.valid
}
