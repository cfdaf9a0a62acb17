// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.DownbeatConfig
import spinal.core._
import spinal.lib._

/** Puts the events of all sources in one line, one a clock, events of one flow at least `flowSpacing` clocks apart.
  *
  * Each source has two places, so that the event behind one that must wait can go before it, unless both are of one flow. Among the
  * events that may go the choice is round robin. A place takes part from the clock after it is filled.
  *
  * The scoreboard has a bit for each flow (flows share bits beyond 64), set while an event of the flow is too close. Two clocks pass
  * from a choice to its bit; until then comparators stand in for it. All comparisons are between registers and run beside the
  * choice, not before it.
  */
class Arbiter(config: DownbeatConfig, sources: Seq[Stream[EngineEvent]]) extends Area {
  private case class Place(valid: Bool, event: EngineEvent, source: Int, older: Bool)

  /** True where the source may issue: its credits are there. */
  val permitted = Vec(Bool(), sources.size)

  private val choice = Bits(2 * sources.size bits)

  private val places: Seq[Place] = sources.zipWithIndex.flatMap { case (source, s) =>
    val valid = Vec(RegInit(False), 2)
    val secondIsOlder = Reg(Bool())
    val events = Seq.fill(2)(Reg(EngineEvent(config)))
    source.ready := !valid(0) || !valid(1)
    for (i <- 0 until 2) {
      val fill = if (i == 0) !valid(0) else valid(0) && !valid(1)
      when(choice(2 * s + i))(valid(i) := False)
      when(source.valid && fill) {
        valid(i) := True
        secondIsOlder := (if (i == 0) True else False)
      }
      // What an empty place holds is nobody's concern: its registers need not wait for the other place.
      when(source.valid && !valid(i))(events(i) := source.payload)
    }
    Seq(Place(valid(0), events(0), s, !secondIsOlder), Place(valid(1), events(1), s, secondIsOlder))
  }

  private val scoreboardBits = log2Up(config.flows) min 6
  private def spot(place: Place): UInt = place.event.reference.flow.resize(scoreboardBits)

  /** Nothing is chosen if and only if nothing may go: known before the choice is. */
  private val anyChosen = Bool()
  private val chosenFlow = MuxOH.or(choice, places.map(spot))
  /** The last choices, newest first. */
  private val history = Vec.fill(config.flowSpacing - 2)(new Bundle {
    val valid = RegInit(False)
    val spot = Reg(UInt(scoreboardBits bits))
  })
  history(0).valid := anyChosen
  history(0).spot := chosenFlow
  for ((older, newer) <- history.tail.zip(history)) {
    older.valid := newer.valid
    when(newer.valid)(older.spot := newer.spot)
  }

  private val scoreboard = RegInit(B(0, 1 << scoreboardBits bits))
  for (i <- scoreboard.bitsRange) {
    when(history.last.valid && history.last.spot === i)(scoreboard(i) := False)
    when(history.head.valid && history.head.spot === i)(scoreboard(i) := True)
  }

  private val eligible = Vec(RegInit(False), places.size)
  for ((place, p) <- places.zipWithIndex) {
    val sameAsChosen = places.indices.map(q => choice(q) && (if (q == p) True else spot(places(q)) === spot(place))).orR
    val sameAsLast = history.head.valid && history.head.spot === spot(place)
    val behindSibling = {
      val sibling = places(p ^ 1)
      sibling.valid && sibling.older && spot(sibling) === spot(place)
    }
    eligible(p) := place.valid && permitted(place.source) && !sameAsChosen && !sameAsLast && !scoreboard(spot(place)) && !behindSibling
  }

  /** Round robin: the first after the last choice, or the first of all. The two searches run side by side, on "is there one before"
    * for each place, which is also what says which places come after the choice.
    */
  private val afterLast = Reg(Bits(places.size bits)) init 0
  private val late = eligible.asBits & afterLast
  private def anyBefore(requests: Bits): Bits =
    B((0 until places.size).map(p => (if (p == 0) False else requests(p - 1 downto 0).orR)))
  private val lateBefore = anyBefore(late)
  private val allBefore = anyBefore(eligible.asBits)
  private val anyLate = late.orR
  choice := anyLate ? (late & ~lateBefore) | (eligible.asBits & ~allBefore)
  anyChosen := eligible.orR
  when(anyChosen)(afterLast := anyLate ? lateBefore | allBefore)

  /** The chosen event, two clocks after it could be chosen; its place is not filled again before. */
  val output = Flow(EngineEvent(config))
  private val chosen = RegNext(choice) init 0
  private val chosenValid = RegNext(anyChosen) init False
  output.valid := RegNext(chosenValid) init False
  output.payload := RegNextWhen(MuxOH.or(chosen, places.map(_.event)), chosenValid)

  val isEmpty: Bool = !places.map(_.valid).reduce(_ || _) && !chosenValid && !output.valid
  /** An event is on its way. */
  val issued: Bool = anyChosen
}
