// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.measure

import downbeat.config.DownbeatConfig
import downbeat.congestion.{CongestionEventKind, ProbeAck}
import downbeat.engine.pipeline.{EnginePipeline, Signals}
import downbeat.lib.ecc.StateMemory
import downbeat.messages.EventKind
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Keeps the probes of each flow in order of sending until they are acknowledged: a side memory of `places` records for
  * each flow.
  *
  * `sent` writes a record, `departed` writes its time, and an ACK is compared with the two oldest records. A probe that
  * an ACK has passed has no ACK of its own: its record is removed, at most two with each ACK, and the chain of gaps is
  * broken. A loss or a retransmission removes all records, because later ACKs measure nothing. A probe that finds no
  * place is not measured.
  */
class ProbeLog(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals, before: Payload[ProbeLogState],
    steps: Seq[Node])
    extends Area {
  import signals._
  private val Seq(s0, s1, s2, s3, s4, s5) = steps
  private val places = ProbeLog.places(config)
  private val indexBits = log2Up(places)
  /** Even and odd records, so that two consecutive ones are read at once. */
  private val banks = Seq.fill(2)(StateMemory(config.ecc, ProbeRecord(), config.flows * places / 2))
  banks.foreach(_.addAttribute("no_rw_check")) // events of one flow are too far apart to collide

  /** Which event it is, and which records it needs. */
  private val select = new s0.Area {
    val isSent = insert(LIVE && KIND === EventKind.sent && MEASURED && !RESENT)
    val isDeparted = insert(LIVE && KIND === EventKind.departed)
    val isAck = insert(LIVE && (ADVANCED || REPEATED))
    val forgets = insert(OPENING || RESENT || CONGESTION_KIND === CongestionEventKind.loss ||
      CONGESTION_KIND === CongestionEventKind.timeout || CONGESTION_KIND === CongestionEventKind.timeoutAgain)
    private val index = UInt(indexBits bits)
    index := before.acknowledging.resize(indexBits)
    when(KIND === EventKind.sent)(index := before.sent.resize(indexBits))
    when(KIND === EventKind.departed)(index := before.departing.resize(indexBits))
    val isOdd = insert(index.lsb)
    /** The place in each bank of the record and of the one after it. */
    val halves = insert(Vec((index + 1) >> 1, index >> 1))
    val unanswered = insert(before.sent - before.acknowledging)
    val needsRecords = insert((isAck || isDeparted) && before.sent =/= before.acknowledging)
    /** Departed and not acknowledged. */
    val inFlight = insert(before.departing - before.acknowledging)
    val anyToDepart = insert(before.departing =/= before.sent)
    val addresses = halves.map(half => FLOW @@ half)
  }

  private val records = banks.zip(select.addresses).map { case (bank, address) =>
    pipeline.readSide(bank, s0, address, needed = _(select.needsRecords)).word
  }

  /** One record against an ACK. */
  private case class Candidate(record: Payload[ProbeRecord]) extends Area {
    private val expect = new s2.Area {
      /** Acknowledgment number of the probe's own ACK. */
      val number = insert {
        val number = SequenceNumber()
        number := record.end
        switch(record.role) {
          is(ProbeRole.ahead)(number.value := record.end.value - (SEGMENT_SIZE << 1))
          is(ProbeRole.behind)(number.value := record.end.value + SEGMENT_SIZE)
        }
        number
      }
    }
    private val compare = new s3.Area {
      val beyond = insert(UNACKNOWLEDGED.since(expect.number)) // signed
      val isAhead = insert(record.role === ProbeRole.ahead)
      val fitsKind = insert(Mux[Bool](isAhead, REPEATED, ADVANCED))
      val reached = insert(UNACKNOWLEDGED.value === expect.number.value)
    }
    val gap = new s3.Area {
      val departure = insert(record.time - before.departure)
      val roundTrip = insert(STAMP.ns.resize(36) - record.time)
    }
    val verdict = new s4.Area {
      /** The ACK is the probe's own. */
      val exact = insert(select.isAck && compare.reached && compare.fitsKind)
      /** The ACK is later than the probe's own. */
      val passed =
        insert(select.isAck && !compare.beyond.msb && !(compare.reached && (compare.fitsKind || compare.isAhead)))
    }
  }
  private val order = new s2.Area {
    val oldest = insert(Mux[ProbeRecord](select.isOdd, records(1), records(0)))
    val second = insert(Mux[ProbeRecord](select.isOdd, records(0), records(1)))
  }
  private val oldest = Candidate(order.oldest)
  private val second = Candidate(order.second)

  private val compare = new s3.Area {
    /** The record is that of the segment which departed. */
    val isItself = insert(SEQUENCE.value === order.oldest.end.value)
    val arrivalGap = insert(STAMP.ns.resize(36) - before.arrival)
    val any = insert(select.unanswered.orR)
    val two = insert(select.unanswered > 1)
  }

  /** The record that the ACK acknowledges, and the number of records that are removed. */
  private val decide = new s4.Area {
    val skips = insert(compare.any && oldest.verdict.passed)
    val exact = insert(compare.any && oldest.verdict.exact || skips && compare.two && second.verdict.exact)
    private val both = skips && compare.two && (second.verdict.exact || second.verdict.passed)
    val removed = insert(Mux(both, U(2, 2 bits), (exact || skips).asUInt.resize(2)))
    val departs = insert(select.isDeparted && select.anyToDepart && compare.isItself)
    val logs = insert(select.isSent && !select.unanswered.msb)
    val acked = insert(Mux[ProbeRecord](skips, order.second, order.oldest))
    val departureGap = insert(Mux[UInt](skips, second.gap.departure, oldest.gap.departure))
    val roundTrip = insert(Mux[UInt](skips, second.gap.roundTrip, oldest.gap.roundTrip))
  }

  val result = ProbeAck()
  val after = ProbeLogState(config)
  /** With `result`, on step 5: probes that had no ACK of their own, and all are forgotten; no probe is unanswered. */
  val missed = UInt(2 bits)
  val forgets, none = Bool()
  private val update = new s5.Area {
    private val chained = before.chained && !decide.skips
    result.answered := decide.exact && decide.acked.departed
    result.begins := decide.acked.begins
    result.disturbed := !chained && !decide.acked.begins || decide.acked.late
    result.departureGap := decide.departureGap
    result.arrivalGap := compare.arrivalGap
    result.roundTrip := decide.roundTrip

    missed := decide.removed - result.answered.asUInt.resize(2)
    forgets := select.forgets && select.unanswered.orR
    none := after.sent === after.acknowledging

    private val written = ProbeRecord()
    written := order.oldest
    when(decide.logs) {
      written.end := SEQUENCE + LENGTH
      written.role := ProbeRole.inOrder
      when(AHEAD)(written.role := ProbeRole.ahead)
      when(FILLS)(written.role := ProbeRole.behind)
      written.begins := BEGINS
      written.departed := False
      written.late := False
    }
    when(decide.departs) {
      written.departed := True
      written.late := LATE
      written.time := STAMP.ns.resized
    }
    for ((bank, i) <- banks.zipWithIndex)
      pipeline.behind(s5)(bank.write(FLOW @@ select.halves(i), written,
          isValid && (decide.logs || decide.departs) && select.isOdd === Bool(i == 1)))

    private val sentAfter = before.sent + decide.logs.asUInt
    after.sent := sentAfter
    after.acknowledging := Mux(select.forgets, sentAfter, before.acknowledging + decide.removed)
    // A record that is removed before its departure is reported will not depart.
    private val overtaken = select.inFlight < decide.removed
    private val caughtUp = Mux(overtaken, decide.removed - select.inFlight.resize(2), U(0, 2 bits))
    after.departing := Mux(select.forgets, sentAfter, before.departing + (decide.departs.asUInt +^ caughtUp))
    after.chained := !select.forgets &&
      Mux(select.isAck, decide.exact && decide.acked.departed && !decide.acked.late, before.chained)
    after.departure := Mux(select.isAck, decide.acked.time, before.departure)
    after.arrival := Mux(select.isAck, STAMP.ns.resize(36), before.arrival)
  }
}

object ProbeLog {
  /** Probes of a flow that can be in flight. Inline measurement sends four streams in a round trip. */
  def places(config: DownbeatConfig): Int = if (config.policiesMeasure) 64 else 32
}
