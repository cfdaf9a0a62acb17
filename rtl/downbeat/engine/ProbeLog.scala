// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.DownbeatConfig
import downbeat.congestion.{CongestionEventKind, ProbeAnswer}
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
  * `sent` writes a record, `departed` its time, and an ACK is held against the oldest. One that has been passed without an ACK of its own is
  * taken away, one with each ACK, and the chain is broken. When something is lost or sent again all are forgotten: what comes then tells
  * nothing. A probe for which there is no place is not measured.
  */
class ProbeLog(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals, before: Payload[ProbeLogState], steps: Seq[Node])
    extends Area {
  import signals._
  import ProbeLog._
  private val Seq(s0, s1, s2, s3, s4, s5) = steps
  private val memory = Mem(ProbeRecord(), config.flows * places)
  memory.addAttribute("no_rw_check") // events of one flow are too far apart to collide

  // ---- step 0: which record

  private val past = s0(before)
  private val isSent = s0.insert(s0(LIVE) && s0(KIND) === EventKind.sent && s0(MEASURED) && !s0(RESENT))
  private val isDeparted = s0.insert(s0(LIVE) && s0(KIND) === EventKind.departed)
  private val isAck = s0.insert(s0(LIVE) && (s0(ADVANCED) || s0(REPEATED)))
  private val forgets = s0.insert(s0(OPENING) || s0(RESENT) || s0(CONGESTION_KIND) === CongestionEventKind.loss ||
    s0(CONGESTION_KIND) === CongestionEventKind.timeout || s0(CONGESTION_KIND) === CongestionEventKind.timeoutAgain)
  private val index = UInt(indexBits + 1 bits)
  index := past.answering
  when(s0(KIND) === EventKind.sent)(index := past.sent)
  when(s0(KIND) === EventKind.departed)(index := past.departing)
  private val place = s0.insert(s0(FLOW) @@ index.resize(indexBits))
  private val anyToDepart = s0.insert(past.departing =/= past.sent)
  private val anyToAnswer = s0.insert(past.answering =/= past.sent)
  private val isFull = s0.insert((past.sent - past.answering).msb)
  private val atDeparting = s0.insert(past.departing === past.answering)

  // ---- steps 1 to 3: the record against the event

  private val found = s1.insert(memory.readSync(s0(place), pipeline.moves(s0)))
  private val answer = s2.insert {
    val number = SequenceNumber()
    number := s2(found).end
    switch(s2(found).role) {
      is(ProbeRole.ahead)(number.value := s2(found).end.value - (s2(SEGMENT_SIZE) << 1))
      is(ProbeRole.behind)(number.value := s2(found).end.value + s2(SEGMENT_SIZE))
    }
    number
  }
  private val beyond = s3.insert(s3(UNACKNOWLEDGED).since(s3(answer)))
  private val isItself = s3.insert(s3(SEQUENCE).value === s3(found).end.value)
  private val departureGap = s3.insert(s3(found).time - s3(before).departure)
  private val arrivalGap = s3.insert(s3(STAMP).ns.resize(36) - s3(before).arrival)

  // ---- step 4: what it means

  private val reached = s4.insert(!s4(beyond).orR)
  private val fitsKind = s4.insert((s4(found).role === ProbeRole.ahead) ? s4(REPEATED) | s4(ADVANCED))
  private val exact = s4.insert(s4(isAck) && s4(anyToAnswer) && s4(reached) && s4(fitsKind))
  private val passed = s4.insert(
    s4(isAck) && s4(anyToAnswer) && !s4(beyond).msb && !(s4(reached) && (s4(fitsKind) || s4(found).role === ProbeRole.ahead)))
  private val departs = s4.insert(s4(isDeparted) && s4(anyToDepart) && s4(isItself))
  private val logs = s4.insert(s4(isSent) && !s4(isFull))

  // ---- step 5: answer and write

  val result = ProbeAnswer()
  result.answered := s5(exact) && s5(found).departed
  result.begins := s5(found).begins
  result.disturbed := !s5(before).chained && !s5(found).begins || s5(found).late
  result.departureGap := s5(departureGap)
  result.arrivalGap := s5(arrivalGap)

  private val written = ProbeRecord()
  written := s5(found)
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
  memory.write(s5(place), written, s5.isValid && (s5(logs) || s5(departs)))

  val after = ProbeLogState()
  private val leaves = s5(exact) || s5(passed)
  private val sentAfter = s5(before).sent + s5(logs).asUInt
  after.sent := sentAfter
  after.answering := s5(forgets) ? sentAfter | s5(before).answering + leaves.asUInt
  // One that is answered before its departure was told never will depart.
  after.departing := s5(forgets) ? sentAfter | s5(before).departing + (s5(departs) || leaves && s5(atDeparting)).asUInt
  after.chained := !s5(forgets) && (s5(isAck) ? (s5(exact) && s5(found).departed && !s5(found).late) | s5(before).chained)
  after.departure := s5(isAck) ? s5(found).time | s5(before).departure
  after.arrival := s5(isAck) ? s5(STAMP).ns.resize(36) | s5(before).arrival
}

object ProbeLog {
  /** Probes of a flow that can be on their way. */
  val places = 32
  val indexBits: Int = log2Up(places)
}
