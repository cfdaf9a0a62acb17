// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.measure

import downbeat.calculation.{RateEstimator, RateRequest}
import downbeat.config.DownbeatConfig
import downbeat.congestion.{CongestionEventKind, RateWindows, Window}
import downbeat.engine.pipeline.{EnginePipeline, Signals}
import downbeat.lib.ecc.StateMemory
import downbeat.messages.{EventKind, TcpState}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** The rate meter's state of a connection, in a side memory. */
case class RateMeterState() extends Bundle {
  /** The estimator knows the connection. */
  val begun = Bool()
  /** Bytes that duplicate ACKs have counted, and that no later ACK has brought yet. */
  val unaccounted = UInt(32 bits)
  /** Bytes of ACKs that found no space before the estimator. */
  val waiting = UInt(32 bits)
  /** The latest sample of the round trip, ns; zero: none yet. */
  val rtt = UInt(32 bits)
  val rates = RateWindows()
}

/** Tells the rate estimator of each ACK, and keeps the estimates that come back as events `estimated`.
  *
  * Bytes count as in ns-2's Westwood agent, there in segments. A duplicate ACK counts SMSS, which is then unaccounted.
  * An ACK of more than SMSS counts what it acknowledges less what is unaccounted, or SMSS where all of it is. The
  * agent's limit of two segments for an ACK is not kept.
  *
  * A connection with no policy that reads the estimates makes no request. The first one is the event with which the
  * connection is established, or the first ACK with such a policy: the estimates begin there.
  */
class RateMeter(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals, steps: Seq[Node]) extends Area {
  import signals._
  private val Seq(s0, s1, s2, s3, _, s5) = steps
  private val memory = StateMemory(config.ecc, RateMeterState(), config.flows)
  memory.addAttribute("no_rw_check") // events of one flow are too far apart to collide
  private val largest = (BigInt(1) << 32) - 1

  private val address = new s0.Area {
    val flow: UInt = FLOW
  }
  private val read = pipeline.readSide(memory, s0, address.flow, needed = _(LIVE))
  private val before = read.word

  private val compare = new s0.Area {
    val repeats = insert(LIVE && (DUPLICATE || CONGESTION_KIND === CongestionEventKind.paired))
    val advances = insert(LIVE && ACKED.orR && !ESTABLISHED)
    val exceeds = insert(SEGMENT_SIZE < ACKED)
    val begins = insert(LIVE && ESTABLISHED)
    val forgets = insert(OPENING || ESTABLISHED)
    val arrives = insert(LIVE && KIND === EventKind.estimated)
    val rtt = insert(Mux[UInt](RTT.takeHigh(4).orR, U(largest, 32 bits), RTT.resize(32)))
  }

  private val subtract = new s1.Area {
    val covers = insert(!(before.unaccounted < ACKED))
    val left = insert(before.unaccounted - ACKED)
    val rest = insert(ACKED - before.unaccounted)
    val more = insert(before.unaccounted + SEGMENT_SIZE)
  }

  private val count = new s2.Area {
    val acked = insert {
      val acked = UInt(32 bits)
      acked := 0
      when(compare.repeats)(acked := SEGMENT_SIZE.resize(32))
      when(compare.advances)(acked := ACKED)
      when(compare.advances && compare.exceeds) {
        acked := Mux[UInt](subtract.covers, SEGMENT_SIZE.resize(32), subtract.rest)
      }
      acked
    }
    val unaccounted = insert {
      val unaccounted = UInt(32 bits)
      unaccounted := before.unaccounted
      when(compare.repeats)(unaccounted := subtract.more)
      when(compare.advances)(unaccounted := before.unaccounted)
      when(compare.advances && compare.exceeds) {
        unaccounted := Mux[UInt](subtract.covers, subtract.left, U(0, 32 bits))
      }
      unaccounted
    }
  }

  private val add = new s3.Area {
    val acked = insert(Mux[UInt](compare.forgets, U(0, 32 bits), before.waiting + count.acked))
    val requests = insert((compare.begins || compare.advances || compare.repeats) &&
      STATE =/= TcpState.synSent && STATE =/= TcpState.synReceived && STATE =/= TcpState.closed)
    val rttBefore = insert(Mux[UInt](OPENING, U(0, 32 bits), before.rtt))
    val smallest = insert(
      Mux[UInt](RTT_MINIMUM.takeHigh(4).orR, U(largest, 32 bits), RTT_MINIMUM.resize(32)))
  }

  private val space, wanted = Bool()
  private val request = Flow(RateRequest(config))
  private val update = new s5.Area {
    private val goes = add.requests && wanted && space
    private val rtt = Mux[UInt](RTT_VALID, compare.rtt, add.rttBefore)
    request.valid := isValid && goes
    request.reference.flow := FLOW
    request.reference.generation := CONNECTION
    request.ack.begins := compare.begins || !before.begun
    request.ack.time := STAMP.ns
    request.ack.acked := add.acked
    request.ack.rtt := rtt
    request.ack.rttMinimum := add.smallest

    val after = RateMeterState()
    after.begun := !OPENING && wanted && (goes || before.begun && !ESTABLISHED)
    after.unaccounted := Mux[UInt](compare.forgets, U(0, 32 bits), count.unaccounted)
    after.waiting := Mux[UInt](goes || !wanted, U(0, 32 bits), add.acked)
    after.rtt := rtt
    after.rates := before.rates
    when(compare.arrives)(after.rates := ESTIMATED)
    when(compare.forgets || !wanted)(after.rates := RateWindows.none)
    if (config.ecc) StateMemory.poison(memory, read.unreadable)
    pipeline.behind(s5)(memory.write(FLOW, after, isValid && (LIVE || OPENING)))

    RATES := after.rates
    ESTIMATES := goes
  }

  /** Connects the estimator. `window` is the connection's before the event, `reads` says that a policy of it reads the
    * estimates; both on step 5.
    */
  def connect(estimator: RateEstimator, window: Payload[Window], reads: Payload[Bool]): Unit = new s5.Area {
    space := estimator.io.space
    wanted := reads
    request.ack.cwnd := window.cwnd(47 downto 16)
    estimator.io.request << request.stage()
  }
}
