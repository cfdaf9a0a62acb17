// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.congestion.{CongestionEventKind, ProbeAnswer}
import downbeat.messages.EventKind
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** How the ACK of a probe looks. */
object ProbeRole extends SpinalEnum {
  /** It advances to the probe's end. */
  val inOrder = newElement()
  /** First half of an inverted pair: it repeats the number at which the pair begins. */
  val ahead = newElement()
  /** Second half: it advances to the end of the first. */
  val behind = newElement()
}

/** A probe on its way. */
case class ProbeRecord() extends Bundle {
  val end = SequenceNumber() // one past its last byte
  val role = ProbeRole()
  val begins = Bool()
  val departed = Bool()
  val late = Bool()
  val time = UInt(36 bits) // of its SFD, ns
}

/** Where a flow's probes lie in the log, and the last one that was answered. */
case class ProbeLogState() extends Bundle {
  /** The next one to be sent, to depart, to be answered; modulo twice the places. */
  val sent, departing, answering = UInt(ProbeLog.indexBits + 1 bits)
  /** What was acknowledged last was a probe, by an ACK of its own: the next one's gaps count from it. */
  val chained = Bool()
  val departure, arrival = UInt(36 bits) // ns
}

/** The probes of each flow in order of sending, until they are answered: a side memory of `places` records for each flow.
  *
  * `sent` writes a record, `departed` its time, and an ACK is compared with the two oldest. One that has been passed without an ACK of its
  * own is taken away, two with each ACK, and the chain is broken. When something is lost or sent again all are forgotten: what comes then
  * tells nothing. A probe for which there is no place is not measured.
  */
class ProbeLog(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals, before: Payload[ProbeLogState], steps: Seq[Node])
    extends Area {
  import signals._
  import ProbeLog._
  private val Seq(s0, s1, s2, s3, s4, s5) = steps
  /** Even and odd records, so that two that follow each other are read at once. */
  private val banks = Seq.fill(2)(Mem(ProbeRecord(), config.flows * places / 2))
  banks.foreach(_.addAttribute("no_rw_check")) // events of one flow are too far apart to collide

  // ---- step 0: which records

  private val past = s0(before)
  private val isSent = s0.insert(s0(LIVE) && s0(KIND) === EventKind.sent && s0(MEASURED) && !s0(RESENT))
  private val isDeparted = s0.insert(s0(LIVE) && s0(KIND) === EventKind.departed)
  private val isAck = s0.insert(s0(LIVE) && (s0(ADVANCED) || s0(REPEATED)))
  private val forgets = s0.insert(s0(OPENING) || s0(RESENT) || s0(CONGESTION_KIND) === CongestionEventKind.loss ||
    s0(CONGESTION_KIND) === CongestionEventKind.timeout || s0(CONGESTION_KIND) === CongestionEventKind.timeoutAgain)
  private val index = UInt(indexBits bits)
  index := past.answering.resize(indexBits)
  when(s0(KIND) === EventKind.sent)(index := past.sent.resize(indexBits))
  when(s0(KIND) === EventKind.departed)(index := past.departing.resize(indexBits))
  private val isOdd = s0.insert(index.lsb)
  private val halves = s0.insert(Vec((index + 1) >> 1, index >> 1))
  private val toAnswer = s0.insert(past.sent - past.answering)
  private val ahead = s0.insert(past.departing - past.answering)
  private val anyToDepart = s0.insert(past.departing =/= past.sent)

  // ---- steps 1 to 3: the record, and the one after it, against the event

  private val read = banks.zipWithIndex.map { case (bank, i) =>
    s1.insert(bank.readSync(s0(FLOW) @@ s0(halves)(i), pipeline.moves(s0)))
  }
  private case class Request(record: Payload[ProbeRecord]) extends Area {
    private val number = s2.insert {
      val number = SequenceNumber()
      number := s2(record).end
      switch(s2(record).role) {
        is(ProbeRole.ahead)(number.value := s2(record).end.value - (s2(SEGMENT_SIZE) << 1))
        is(ProbeRole.behind)(number.value := s2(record).end.value + s2(SEGMENT_SIZE))
      }
      number
    }
    private val beyond = s3.insert(s3(UNACKNOWLEDGED).since(s3(number)))
    private val isAhead = s3.insert(s3(record).role === ProbeRole.ahead)
    private val fitsKind = s3.insert(s3(isAhead) ? s3(REPEATED) | s3(ADVANCED))
    private val reached = s3.insert(s3(UNACKNOWLEDGED).value === s3(number).value)
    val departureGap = s3.insert(s3(record).time - s3(before).departure)
    /** This ACK is the one that the probe was to bring; it is beyond that. */
    val exact = s4.insert(s4(isAck) && s4(reached) && s4(fitsKind))
    val passed = s4.insert(s4(isAck) && !s4(beyond).msb && !(s4(reached) && (s4(fitsKind) || s4(isAhead))))
  }
  private val oldest = Request(s2.insert(s2(isOdd) ? s2(read(1)) | s2(read(0))))
  private val second = Request(s2.insert(s2(isOdd) ? s2(read(0)) | s2(read(1))))
  private val isItself = s3.insert(s3(SEQUENCE).value === s3(oldest.record).end.value)
  private val arrivalGap = s3.insert(s3(STAMP).ns.resize(36) - s3(before).arrival)

  // ---- step 4: what it means

  private val isAny = s3.insert(s3(toAnswer).orR)
  private val areTwo = s3.insert(s3(toAnswer) > 1)
  private val any = s4(isAny)
  private val two = s4(areTwo)
  private val skips = s4.insert(any && s4(oldest.passed))
  private val exact = s4.insert(any && s4(oldest.exact) || s4(skips) && two && s4(second.exact))
  /** How many go. */
  private val both = s4(skips) && two && (s4(second.exact) || s4(second.passed))
  private val leaves = s4.insert(both ? U(2, 2 bits) | (s4(exact) || s4(skips)).asUInt.resize(2))
  private val departs = s4.insert(s4(isDeparted) && s4(anyToDepart) && s4(isItself))
  private val logs = s4.insert(s4(isSent) && !s4(toAnswer).msb)
  private val answerer = s4.insert(s4(skips) ? s4(second.record) | s4(oldest.record))
  private val departureGap = s4.insert(s4(skips) ? s4(second.departureGap) | s4(oldest.departureGap))

  // ---- step 5: answer and write

  val result = ProbeAnswer()
  private val chained = s5(before).chained && !s5(skips)
  result.answered := s5(exact) && s5(answerer).departed
  result.begins := s5(answerer).begins
  result.disturbed := !chained && !s5(answerer).begins || s5(answerer).late
  result.departureGap := s5(departureGap)
  result.arrivalGap := s5(arrivalGap)

  private val written = ProbeRecord()
  written := s5(oldest.record)
  when(s5(logs)) {
    written.end := s5(SEQUENCE) + s5(LENGTH)
    written.role := ProbeRole.inOrder
    when(s5(AHEAD))(written.role := ProbeRole.ahead)
    when(s5(FILLS))(written.role := ProbeRole.behind)
    written.begins := s5(BEGINS)
    written.departed := False
    written.late := False
  }
  when(s5(departs)) {
    written.departed := True
    written.late := s5(LATE)
    written.time := s5(STAMP).ns.resized
  }
  for ((bank, i) <- banks.zipWithIndex)
    bank.write(s5(FLOW) @@ s5(halves)(i), written, s5.isValid && (s5(logs) || s5(departs)) && s5(isOdd) === Bool(i == 1))

  val after = ProbeLogState()
  private val sentAfter = s5(before).sent + s5(logs).asUInt
  after.sent := sentAfter
  after.answering := s5(forgets) ? sentAfter | s5(before).answering + s5(leaves)
  // One that leaves before its departure was told never will depart.
  private val overtaken = s5(ahead) < s5(leaves)
  private val caughtUp = overtaken ? (s5(leaves) - s5(ahead).resize(2)) | U(0, 2 bits)
  after.departing := s5(forgets) ? sentAfter | s5(before).departing + (s5(departs).asUInt +^ caughtUp)
  after.chained := !s5(forgets) && (s5(isAck) ? (s5(exact) && s5(answerer).departed && !s5(answerer).late) | s5(before).chained)
  after.departure := s5(isAck) ? s5(answerer).time | s5(before).departure
  after.arrival := s5(isAck) ? s5(STAMP).ns.resize(36) | s5(before).arrival
}

object ProbeLog {
  /** Probes of a flow that can be on their way. */
  val places = 32
  val indexBits: Int = log2Up(places)
}
