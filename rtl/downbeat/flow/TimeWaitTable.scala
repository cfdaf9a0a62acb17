// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.lib.WideMemory
import downbeat.lib.ecc.StateMemory
import downbeat.messages.{ConnectionEnd, NextInstant, TimeWaitNumbers}
import downbeat.time.Instant
import spinal.core._
import spinal.lib._

/** The connections in TIME-WAIT that no flow holds: their numbers, and a ring of their places in the order in which
  * they came. Their 4-tuples and timers are keys of the [[ConnectionTable]].
  *
  * The oldest one leaves when its time is over, or for a new one when all places are taken. It passes through the lookup
  * for that, which may find that the 4-tuple is held elsewhere, as the next connection has begun. One whose 2 MSL have
  * restarted stays; those behind it are not found when their time is over, and leave after it.
  */
case class TimeWaitTable(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val now = in(Instant())
    /** The end of a flow's connection; comes before the flow's release. */
    val ended = slave(Flow(ConnectionEnd(config)))
    /** A flow to release; how it ended, two clocks behind and until the next one. */
    val release = slave(Flow(UInt(config.flowBits bits)))
    val end = out(ConnectionEnd(config))
    /** The place that a segment was found in; its numbers, two clocks behind and until the next one. */
    val place = slave(Flow(UInt(config.timeWaitBits bits)))
    val numbers = out(TimeWaitNumbers())

    /** A connection wants to enter. There is space. It enters, at `newest`. */
    val wanted = in Bool ()
    val space = out Bool ()
    val enters = in Bool ()
    val newest = out(UInt(config.timeWaitBits bits))

    /** The oldest place: its key, and the lookup that removes it. */
    val oldest = out(UInt(config.timeWaitBits bits))
    val keyRead = master(KeyReadPort(config))
    /** Another key is read, or this memory of keys written, in this clock. */
    val keyBusy = in Bool ()
    val lookups = master(Stream(FlowTuple(config.vlanBits)))
    /** The response: the place holds its 4-tuple, with this timer. */
    val done = in Bool ()
    val found = in Bool ()
    val timer = in(TimeWaitTimer(config))
    /** With `done`: it leaves; before its time is over. */
    val leaves, givenUp = out Bool ()
    val next = out(NextInstant())
    val idle = out Bool ()
  }
  noIoPrefix()

  // ---- numbers

  private val ends = WideMemory(StateMemory(config.ecc, ConnectionEnd(config), config.flows))
  private val numbers = WideMemory(StateMemory(config.ecc, TimeWaitNumbers(), config.timeWaits))
  ends.write(io.ended.flow, io.ended.payload, io.ended.valid)
  private def read[T <: Data](memory: Mem[T], address: Flow[UInt]): T =
    RegNextWhen(memory.readSync(address.payload, address.valid), RegNext(address.valid) init False)
  io.end := read(ends, io.release)
  io.numbers := read(numbers, io.place)

  // ---- ring

  private val first, behind = Reg(UInt(config.timeWaitBits + 1 bits)) init 0
  private val isEmpty = first === behind
  private val isFull = (first ^ behind) === config.timeWaits
  io.oldest := first.resized
  io.newest := behind.resized
  io.space := RegNext(!isFull) init True
  numbers.write(io.newest, io.end.numbers, io.enters)
  when(io.enters)(behind := behind + 1)

  private object Step extends SpinalEnum {
    val idle, read, arrive, compare, waiting, request, response = newElement()
  }
  private val step = RegInit(Step.idle)
  private val tuple = Reg(FlowTuple(config.vlanBits))
  private val timer = Reg(TimeWaitTimer(config))
  private val isDue = RegNext(timer.isOver(io.now)) init False
  /** A new connection needs the place. */
  private val forced = RegInit(False)

  io.keyRead.enable := step === Step.idle && !isEmpty && !io.keyBusy
  io.keyRead.place.inTimeWait := True
  io.keyRead.place.index := io.oldest.resized
  io.lookups.valid := step === Step.request
  io.lookups.payload := tuple

  private val stays = io.found && !forced && !io.timer.isOver(io.now)
  io.leaves := io.found && !stays
  io.givenUp := io.leaves && !io.timer.isOver(io.now)
  switch(step) {
    is(Step.idle)(when(io.keyRead.enable)(step := Step.read))
    is(Step.read)(step := Step.arrive)
    is(Step.arrive) {
      tuple := io.keyRead.key.tuple
      timer := io.keyRead.key.timer
      step := Step.compare
    }
    is(Step.compare)(step := Step.waiting)
    is(Step.waiting) {
      forced := isFull && io.wanted
      when(isDue || isFull && io.wanted)(step := Step.request)
    }
    is(Step.request)(when(io.lookups.ready)(step := Step.response))
    is(Step.response)(when(io.done) {
      step := Step.idle
      when(!stays)(first := first + 1)
    })
  }
  io.next.armed := step === Step.waiting
  io.next.at := timer.end
  io.idle := step === Step.waiting && !isDue || step === Step.idle && isEmpty
}

object TimeWaitTable {
  /** From SND.NXT to the initial sequence number of the next connection, where the clock's is below it: more than a
    * window without scale.
    */
  val sequenceStep = 65538
}
