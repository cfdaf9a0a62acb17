// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.arbiter

import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.{EngineEvent, IdleStandsStill}
import spinal.core._
import spinal.lib._

/** Orders the events of all sources into one queue. */
trait EventLine extends Area {
  /** For each source: it may issue, because the credits that it needs are there. */
  def permitted: Vec[Bool]
  /** The chosen event. */
  def output: Flow[EngineEvent]
  /** No event is waiting or on its way. */
  def isEmpty: Bool
  /** An event has been chosen, and is on its way to the output. */
  def issued: Bool

  /** The event whose condition holds, zeros in what no source fills. */
  protected def eventOf(config: DownbeatConfig, events: Seq[(Bool, FilledEvent)]): EngineEvent = {
    val chosen = FilledEvent.chosen(config, events)
    for ((field, isFilled) <- chosen.event.flatten.zip(chosen.filled) if !isFilled)
      field.assignFromBits(B(0, widthOf(field) bits))
    chosen.event
  }
}

/** Takes the events of all sources, at most one a clock, with events of one flow at least `flowSpacing` clocks apart.
  *
  * Each source has two places, so an event can pass one that must wait, unless both are of one flow. The choice among
  * the events that may go is round robin. A place takes part from the clock after it is filled.
  *
  * At most one place of a flow is eligible at a time. So a choice needs to tell the other places nothing: an event of
  * the flow of an eligible one waits, whether that is chosen or not. Of several places of a flow that one becomes
  * eligible which is first in the round robin's order of sources; of one source's two, the older.
  *
  * The scoreboard has a bit for each flow (flows share bits beyond 64). It is set while an event of the flow is too
  * close. It is set two clocks after the choice; until then places are compared with what was chosen. All comparisons
  * are between registers, so none adds to the path of the choice.
  */
class Arbiter(config: DownbeatConfig, sources: Seq[EventSource]) extends EventLine {
  private case class Place(valid: Bool, spot: UInt, nextSpot: UInt, source: Int, older: Bool)

  private val scoreboardBits = log2Up(config.flows) min 6

  val permitted = Vec(Bool(), sources.size)

  private val choice = Bits(2 * sources.size bits)

  /** Each source's two words, in distributed RAM: as registers they were two clock enables for four hundred of them. */
  private val memories = sources.map(source => Mem(source.words.payload, 2))

  private val places: Seq[Place] = sources.zipWithIndex.flatMap { case (EventSource(words, event, _), s) =>
    val valid = Vec(RegInit(False), 2)
    val secondIsOlder = Reg(Bool())
    val nextSpots = Seq.fill(2)(UInt(scoreboardBits bits))
    val spots = nextSpots.map(RegNext(_))
    words.ready := !valid(0) || !valid(1)
    memories(s).write(address = valid(0).asUInt, data = words.payload, enable = words.fire)
    for (i <- 0 until 2) {
      val fill = if (i == 0) !valid(0) else valid(0) && !valid(1)
      when(choice(2 * s + i))(valid(i) := False)
      nextSpots(i) := spots(i)
      when(words.valid && fill) {
        valid(i) := True
        secondIsOlder := (if (i == 0) True else False)
        nextSpots(i) := event(words.payload).event.reference.flow.resized
      }
    }
    Seq(Place(valid(0), spots(0), nextSpots(0), s, !secondIsOlder),
      Place(valid(1), spots(1), nextSpots(1), s, secondIsOlder))
  }

  /** Nothing is chosen if and only if nothing may go: known before the choice is. */
  private val anyChosen = Bool()

  /** The last choices, newest first. A place is not filled again before the clock after its choice is over, so it still
    * tells its flow.
    */
  private val lastChoice = RegNext(choice) init 0
  private val lastChosen = RegNext(anyChosen) init False
  private val history = Vec.fill(config.flowSpacing - 3)(new Bundle {
    val valid = RegInit(False)
    val spot = Reg(UInt(scoreboardBits bits))
  })
  history(0).valid := lastChosen
  history(0).spot := MuxOH.or(lastChoice, places.map(_.spot))
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
  private val chosenSource = Bits(sources.size bits)
  /** Sources behind that of the last choice but one, and behind that of the last one. The round robin may know of a
    * choice a clock late: the place that was chosen cannot be chosen again so soon.
    */
  private val afterLast = Reg(Bits(sources.size bits)) init 0
  private val lastSource = RegNext(chosenSource) init 0
  private val afterNext =
    lastChosen ? B(sources.indices.map(s => if (s == 0) False else lastSource(s - 1 downto 0).orR)) | afterLast
  afterLast := afterNext
  /** Compared when a place is filled, so that a register says it. */
  private val ofOneFlow =
    (for (b <- places.indices; a <- 0 until b) yield (a, b) -> RegNext(places(a).nextSpot === places(b).nextSpot)).toMap
  private def sameFlow(a: Int, b: Int): Bool = ofOneFlow((a min b, a max b))
  /** The first of two places goes before the second one, if both may go and are of one flow. */
  private def precedes(first: Int, second: Int): Bool = {
    def late(place: Int) = afterLast(places(place).source)
    if ((first ^ second) == 1) places(first).older
    else if (first < second) late(first) || !late(second)
    else late(first) && !late(second)
  }
  private val ready = places.map(place => place.valid && permitted(place.source))
  private val nextEligible = for ((place, p) <- places.zipWithIndex) yield {
    val others = places.indices.filter(_ != p)
    val sameAsEligible = others.map(q => eligible(q) && sameFlow(p, q)).orR
    val sameAsLast =
      others.map(q => lastChoice(q) && sameFlow(p, q)).orR || history.head.valid && history.head.spot === place.spot
    val mustWait = others.map(q => ready(q) && sameFlow(p, q) && precedes(q, p)).orR
    ready(p) && !choice(p) && !sameAsLast && !scoreboard(place.spot) && !sameAsEligible && (eligible(p) || !mustWait)
  }
  eligible := Vec(nextEligible)

  /** Round robin among sources: the first of those behind the last choice's, or the first of the others. Of its two the
    * older.
    */
  private val nextSources = nextEligible.grouped(2).map(_.orR).toSeq
  private val late = RegNext(B(nextSources) & afterNext) init 0
  private val early = RegNext(B(nextSources) & ~afterNext) init 0
  private def first(requests: Bits): Bits =
    B(requests.bitsRange.map(s => if (s == 0) requests(s) else requests(s) && !requests(s - 1 downto 0).orR))
  chosenSource := late.orR ? first(late) | first(early)
  for (s <- sources.indices) {
    val takesSecond = RegNext(nextEligible(2 * s + 1) && !(nextEligible(2 * s) && places(2 * s).older))
    choice(2 * s) := chosenSource(s) && !takesSecond
    choice(2 * s + 1) := chosenSource(s) && takesSecond
  }
  anyChosen := eligible.orR

  /** Three clocks after it could be chosen; its place is not filled again before it is read. */
  val output = Flow(EngineEvent(config))
  private val idle = new IdleStandsStill
  private val read =
    for (((source, memory), s) <- sources.zip(memories).zipWithIndex) yield new Area {
      val chosen = lastSource(s)
      val second = RegNext(choice(2 * s + 1))
      val valid = RegNext(chosen) init False
      val word = RegNextWhen(memory.readAsync(second.asUInt), chosen || !idle.standsStill)
      val event = source.event(word)
    }
  private val readAny = read.map(_.valid).orR
  output.valid := RegNext(readAny) init False
  output.payload := RegNextWhen(eventOf(config, read.map(one => (one.valid, one.event))), readAny || !idle.standsStill)

  val isEmpty: Bool = !(places.map(_.valid) ++ read.map(_.chosen) ++ read.map(_.valid)).orR && !output.valid
  val issued: Bool = anyChosen
}
