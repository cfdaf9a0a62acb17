// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import downbeat.messages.{NextHopMove, NextInstant, StaticNeighbour}
import downbeat.time.Instant
import spinal.core._
import spinal.lib._

/** A neighbour: its addresses, and until when they are valid. */
case class NeighbourEntry(vlanBits: Int) extends Bundle {
  val ip = UInt(32 bits)
  val vlan = UInt(vlanBits bits)
  val mac = Bits(48 bits) // unless incomplete
  /** incomplete: ask again, or give up; reachable: forget it. */
  val deadline = Instant()
  /** incomplete: requests sent so far. */
  val attempts = UInt(2 bits)
}

object NeighbourState extends SpinalEnum {
  val free = newElement()
  /** Requested, not resolved yet; opens may wait for it. */
  val incomplete = newElement()
  /** Heard of by ARP. */
  val reachable = newElement()
  /** Written by the host: never asked for, never learnt again, never forgotten. */
  val static = newElement()
}

/** A neighbour that ARP has shown. */
case class LearntNeighbour(vlanBits: Int) extends Bundle {
  val ip = UInt(32 bits)
  val vlan = UInt(vlanBits bits)
  val mac = Bits(48 bits)
  /** It has asked for us and will hear from us: worth a place of its own (RFC 826). */
  val enter = Bool()
}

/** Key of a lookup: a neighbour of one network. */
case class NextHopAddress(vlanBits: Int) extends Bundle {
  val ip = UInt(32 bits)
  val vlan = UInt(vlanBits bits)
}

/** Result of a look-up. */
case class HopResult() extends Bundle {
  val found = Bool()
  val mac = Bits(48 bits) // if `found`
  /** Requested now or before: a notice about `entry` will come. Neither: there is no place for the request. */
  val pending = Bool()
  val entry = UInt(NeighbourTable.entryBits bits)
}

/** An incomplete entry has been resolved or given up. */
case class HopNotice() extends Bundle {
  val entry = UInt(NeighbourTable.entryBits bits)
  /** It replied; otherwise it was requested often enough. */
  val resolved = Bool()
}

/** The table of neighbours. It does one job at a time: it reads all entries, changes one, and reads all again for the
  * next deadline. A job takes about forty clocks; no packet waits for it.
  *
  * A look-up without a result sends ARP requests (RFC 826): three, a second apart, and at most one a second for each
  * address (RFC 1122 2.3.2.1). An entry that has not been confirmed for 60 s is removed, so the next look-up asks
  * again. A new entry takes a free place, or else that of the reachable entry that was confirmed longest ago.
  */
case class NeighbourTable(vlanBits: Int) extends Component {
  import NeighbourTable._

  val io = new Bundle {
    val now = in(Instant())
    val learnt = slave(Stream(LearntNeighbour(vlanBits)))
    val statics = slave(Stream(StaticNeighbour(vlanBits)))
    val lookups = slave(Stream(NextHopAddress(vlanBits)))
    val results = master(Flow(HopResult()))
    val notices = master(Flow(HopNotice()))
    val requests = master(Stream(ArpMessage(vlanBits)))
    /** The MAC that ARP or the host gives of a neighbour, which need not have an entry. */
    val moves = master(Stream(NextHopMove(vlanBits)))
    /** A static entry found no place. */
    val noPlace = out Bool ()
    val next = out(NextInstant())
    val idle = out Bool ()
  }
  noIoPrefix()

  private object Job extends SpinalEnum {
    val deadline, learnt, static, lookup = newElement()
  }
  private object Step extends SpinalEnum {
    val idle, find, act, survey = newElement()
  }
  private val step = RegInit(Step.idle)
  private val job = Reg(Job)
  private val ip = Reg(UInt(32 bits))
  private val vlan = Reg(UInt(vlanBits bits))
  private val mac = Reg(Bits(48 bits))
  private val option = Reg(Bool()) // enter, remove

  private val states = Vec.fill(entries)(RegInit(NeighbourState.free))
  private val memory = Mem(NeighbourEntry(vlanBits), entries)
  memory.addAttribute("no_rw_check") // nothing is written while all are looked at

  // ---- all entries, one a clock

  private val scan = new Area {
    private val running = step === Step.find || step === Step.survey
    private val index = Reg(UInt(entryBits + 1 bits)) init 0
    when(running)(index := index + 1).otherwise(index := 0)
    private val reading = running && !index.msb
    private val entry = memory.readSync(index.resized, reading)
    private val at = RegNextWhen(index.resize(entryBits), reading)
    private val state = RegNextWhen(states(index.resized), reading)
    private val arrived = RegNext(reading) init False
    val done = running && index === entries + 1

    /** The entry that the job is about. */
    val found, free, due, victim = RegInit(False)
    val foundAt, freeAt, victimAt = Reg(UInt(entryBits bits))
    val foundEntry = Reg(NeighbourEntry(vlanBits))
    val foundState = Reg(NeighbourState)
    val dueAt = Reg(UInt(entryBits bits))
    val dueTime, victimTime = Reg(Instant())

    private val isFree = state === NeighbourState.free
    private val isReachable = state === NeighbourState.reachable
    private val isTimed = state === NeighbourState.incomplete || isReachable
    private val sameVlan = if (vlanBits > 0) entry.vlan === vlan else True
    private val isWanted = (job === Job.deadline) ? (at === dueAt) | (entry.ip === ip && sameVlan)
    when(step === Step.idle) {
      found := False
      free := False
      victim := False
    }
    when(arrived && step === Step.find) {
      when(isWanted && !isFree) {
        found := True
        foundAt := at
        foundEntry := entry
        foundState := state
      }
      when(isFree) {
        free := True
        freeAt := at
      }
      when(isReachable && !(victim && victimTime.isBefore(entry.deadline))) {
        victim := True
        victimAt := at
        victimTime := entry.deadline
      }
    }
    when(step === Step.act)(due := False)
    when(arrived && step === Step.survey && isTimed && !(due && dueTime.isBefore(entry.deadline))) {
      due := True
      dueAt := at
      dueTime := entry.deadline
    }
  }
  io.next.armed := scan.due
  io.next.at := scan.dueTime
  private val dueNow = RegNext(scan.due && io.now.hasReached(scan.dueTime)) init False

  // ---- the next job

  io.learnt.ready := False
  io.statics.ready := False
  io.lookups.ready := False
  when(step === Step.idle) {
    option := False
    mac := io.learnt.mac
    ip := io.learnt.ip
    vlan := io.learnt.vlan
    when(dueNow) {
      job := Job.deadline
      step := Step.find
    } elsewhen (io.learnt.valid) {
      io.learnt.ready := True
      job := Job.learnt
      option := io.learnt.enter
      step := Step.find
    } elsewhen (io.statics.valid) {
      io.statics.ready := True
      job := Job.static
      ip := io.statics.ip
      vlan := io.statics.vlan
      mac := io.statics.mac
      option := io.statics.remove
      step := Step.find
    } elsewhen (io.lookups.valid) {
      io.lookups.ready := True
      job := Job.lookup
      ip := io.lookups.ip
      vlan := io.lookups.vlan
      step := Step.find
    }
  }
  when(scan.done)(step := (step === Step.find) ? Step.act | Step.idle)

  // ---- result

  private val place = scan.found ? scan.foundAt | (scan.free ? scan.freeAt | scan.victimAt)
  private val hasPlace = scan.found || scan.free || scan.victim
  private val isIncomplete = scan.found && scan.foundState === NeighbourState.incomplete
  private val isStatic = scan.found && scan.foundState === NeighbourState.static
  private val acts = Bool()
  private val writes = False
  private val stateAfter = NeighbourState()
  stateAfter := scan.foundState
  private val after = NeighbourEntry(vlanBits)
  after.ip := ip
  after.vlan := vlan
  after.mac := mac
  after.attempts := 1
  after.deadline := io.now + U(Instant.nanoseconds(retryInterval), 48 bits)
  private val sendsRequest = False

  switch(job) {
    is(Job.deadline) {
      writes := True
      after.ip := scan.foundEntry.ip
      after.vlan := scan.foundEntry.vlan
      after.attempts := scan.foundEntry.attempts + 1
      val again = isIncomplete && scan.foundEntry.attempts =/= requests
      sendsRequest := again
      stateAfter := again ? NeighbourState.incomplete | NeighbourState.free
    }
    is(Job.learnt) {
      writes := (scan.found || option && hasPlace) && !isStatic
      after.deadline := io.now + U(Instant.nanoseconds(lifetime), 48 bits)
      stateAfter := NeighbourState.reachable
    }
    is(Job.static) {
      writes := option ? isStatic | hasPlace
      stateAfter := option ? NeighbourState.free | NeighbourState.static
    }
    is(Job.lookup) {
      writes := !scan.found && hasPlace
      sendsRequest := writes
      stateAfter := NeighbourState.incomplete
    }
  }
  // Decided in the first clock of `act`, done in the second.
  private val decided = RegNext(step === Step.act) init False
  private val sendsRequestNow = RegNext(sendsRequest)
  private val writesNow = RegNext(writes)
  private val placeNow = RegNext(place)
  private val stateNow = RegNext(stateAfter)
  private val moves = (job === Job.learnt && !isStatic) || (job === Job.static && !option && hasPlace)
  private val movesNow = RegNext(moves)
  acts := step === Step.act && decided && (!sendsRequestNow || io.requests.ready) && (!movesNow || io.moves.ready)
  when(acts)(step := Step.survey)
  memory.write(placeNow, after, acts && writesNow)
  when(acts && writesNow)(states(placeNow) := stateNow)

  io.requests.valid := step === Step.act && decided && sendsRequestNow
  io.requests.payload := ArpMessage.request(after.ip, after.vlan)
  io.moves.valid := step === Step.act && decided && movesNow
  io.moves.ip := ip
  io.moves.vlan := vlan
  io.moves.mac := mac
  io.results.valid := acts && job === Job.lookup
  io.results.found := scan.found && !isIncomplete
  io.results.mac := scan.foundEntry.mac
  io.results.pending := isIncomplete || !scan.found && hasPlace
  io.results.entry := place
  io.notices.valid := acts && isIncomplete && writes && stateAfter =/= NeighbourState.incomplete
  io.notices.entry := place
  io.notices.resolved := job =/= Job.deadline
  io.noPlace := acts && job === Job.static && !option && !hasPlace

  io.idle := step === Step.idle && !dueNow && !Seq(io.learnt.valid, io.statics.valid, io.lookups.valid).orR
}

object NeighbourTable {
  val entries = 16
  val entryBits: Int = log2Up(entries)
  /** An address is asked for so often, so far apart. */
  val requests = 3
  val retryInterval = 1 sec
  val lifetime = 60 sec
}
