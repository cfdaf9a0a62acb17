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
class Arbiter(config: DownbeatConfig, sources: Seq[EventSource]) extends Area {
  private case class Place(valid: Bool, spot: UInt, source: Int, older: Bool)

  private val scoreboardBits = log2Up(config.flows) min 6

  /** True where the source may issue: its credits are there. */
  val permitted = Vec(Bool(), sources.size)

  private val choice = Bits(2 * sources.size bits)

  /** Each source's two words, in distributed RAM: as registers they were two clock enables for four hundred of them. */
  private val memories = sources.map(source => Mem(source.words.payload, 2))

  private val places: Seq[Place] = sources.zipWithIndex.flatMap { case (EventSource(words, event), s) =>
    val valid = Vec(RegInit(False), 2)
    val secondIsOlder = Reg(Bool())
    val spots = Seq.fill(2)(Reg(UInt(scoreboardBits bits)))
    words.ready := !valid(0) || !valid(1)
    memories(s).write(address = valid(0).asUInt, data = words.payload, enable = words.fire)
    for (i <- 0 until 2) {
      val fill = if (i == 0) !valid(0) else valid(0) && !valid(1)
      when(choice(2 * s + i))(valid(i) := False)
      when(words.valid && fill) {
        valid(i) := True
        secondIsOlder := (if (i == 0) True else False)
        spots(i) := event(words.payload).reference.flow.resized
      }
    }
    Seq(Place(valid(0), spots(0), s, !secondIsOlder), Place(valid(1), spots(1), s, secondIsOlder))
  }

  /** Nothing is chosen if and only if nothing may go: known before the choice is. */
  private val anyChosen = Bool()
  private val chosenFlow = MuxOH.or(choice, places.map(_.spot))
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
    val sameAsChosen = places.indices.map(q => choice(q) && (if (q == p) True else places(q).spot === place.spot)).orR
    val sameAsLast = history.head.valid && history.head.spot === place.spot
    val behindSibling = {
      val sibling = places(p ^ 1)
      sibling.valid && sibling.older && sibling.spot === place.spot
    }
    eligible(p) := place.valid && permitted(place.source) && !sameAsChosen && !sameAsLast && !scoreboard(place.spot) && !behindSibling
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

  /** The chosen event, three clocks after it could be chosen; its place is not filled again before it is read. */
  val output = Flow(EngineEvent(config))
  private val idle = new IdleStandsStill
  private val read = for (((source, memory), s) <- sources.zip(memories).zipWithIndex) yield new Area {
    val chosen = RegNext(choice(2 * s) || choice(2 * s + 1)) init False
    val second = RegNext(choice(2 * s + 1))
    val valid = RegNext(chosen) init False
    val word = RegNextWhen(memory.readAsync(second.asUInt), chosen || !idle.standsStill)
    val event = source.event(word)
  }
  private val readAny = read.map(_.valid).orR
  output.valid := RegNext(readAny) init False
  output.payload := RegNextWhen(MuxOH.or(Vec(read.map(_.valid)), read.map(_.event)), readAny || !idle.standsStill)

  val isEmpty: Bool = !(places.map(_.valid) ++ read.map(_.chosen) ++ read.map(_.valid)).orR && !output.valid
  /** An event is on its way. */
  val issued: Bool = anyChosen
}
