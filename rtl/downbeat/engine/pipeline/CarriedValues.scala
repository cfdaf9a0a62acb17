// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.pipeline

import downbeat.lib.pipeline.ValueWays
import java.util.{Collections, IdentityHashMap}
import spinal.core._

/** Carries each value from the node that has it to the nodes that read it, field by field.
  *
  * Over a few nodes a field moves from register to register. Over more it waits in distributed RAM: written on the node
  * that has it in a register, or else on the next one, and read on the node before the reader's, so that both ends are
  * registers. The address is the event's index modulo `places`; it travels with the event. Most of a stage's word is
  * read on its first step and on its last, so this halves the engine's registers, and a smaller engine is placed closer
  * together.
  */
class CarriedValues(pipeline: EnginePipeline) extends Area {
  import CarriedValues._
  private val nodes = pipeline.nodes

  /** A field on its way between two nodes, with nobody who looks at it in between. */
  private case class Trip(from: Int, to: Int, source: BaseType, target: BaseType)

  private val trips: Seq[Trip] = ValueWays(nodes).flatMap { way =>
    val begins = ValueWays.Stop(way.from, way.source) +: way.stops
    begins.zip(way.stops).map { case (from, to) => Trip(from.node, to.node, from.target, to.target) }
  }

  // ---- from register to register

  /** `value` as it is `count` nodes behind `from`. */
  private def registered(
      value: BaseType, from: Int, count: Int): BaseType = (0 until count).foldLeft(value) { (before, i) =>
    pipeline.behind(nodes(from + i)) {
      val register = cloneOf(before).setAsReg()
      when(pipeline.moves(nodes(from + i)))(register := before.asInstanceOf[register.type])
      register
    }
  }

  private def arrive(trip: Trip, value: BaseType): Unit = {
    val before = nodes(trip.to - 1)
    trip.target.setAsReg()
    // It was made with the clock of its first reader.
    pipeline.behind(before)(trip.target.remapClockDomain(_ => ClockDomain.current))
    when(pipeline.moves(before))(trip.target.assignFrom(value))
  }

  /** A value that has arrived is in a register; a node's own value may be the end of its logic. */
  private val arrived: java.util.Set[BaseType] =
    Collections.newSetFromMap(new IdentityHashMap[BaseType, java.lang.Boolean])
  trips.foreach(trip => arrived.add(trip.target))
  private def begins(trip: Trip): Int = if (arrived.contains(trip.source)) trip.from else trip.from + 1

  private val (waiting, walking) = trips.partition(trip => trip.to - begins(trip) >= shortest)
  for (trip <- walking) arrive(trip, registered(trip.source, trip.from, trip.to - trip.from - 1))

  // ---- through memories, one for all fields of the same way

  private val index = Reg(UInt(log2Up(places) bits)) init 0
  when(pipeline.entry.isValid)(index := index + 1)
  private val indices: Seq[UInt] = nodes.indices.scanLeft(index) { (before, i) =>
    pipeline.behind(nodes(i))(RegNextWhen(before, pipeline.moves(nodes(i))))
  }

  /** The word is in registers on node `from`; it is to be put into registers on node `to`. */
  private def wait(word: Bits, from: Int, to: Int): Bits = {
    val memory = Mem(word, places)
    pipeline.behind(nodes(from))(memory.write(indices(from), word, pipeline.moves(nodes(from))))
    memory.readAsync(indices(to - 1))
  }

  for (((begin, to), group) <- waiting.groupBy(trip => (begins(trip), trip.to)).toSeq.sortBy(_._1)) {
    val word =
      group.map(trip => registered(trip.source, trip.from, begin - trip.from).asBits).reduce((low, high) => high ## low)
    val middle = (begin + to) / 2
    val last = if (to - begin <= longest) wait(word, begin, to)
    else {
      val kept = wait(word, begin, middle)
      wait(pipeline.behind(nodes(middle - 1))(RegNextWhen(kept, pipeline.moves(nodes(middle - 1)))), middle, to)
    }
    for ((trip, offset) <- group.zip(group.map(trip => widthOf(trip.source)).scanLeft(0)(_ + _))) {
      val value = cloneOf(trip.target)
      value.assignFromBits(last(offset, widthOf(trip.source) bits))
      arrive(trip, value)
    }
  }
}

object CarriedValues {
  /** Words of one distributed RAM. */
  val places = 16
  /** Nodes; over more, an event could write before the one that had its place has been read. What carries nothing valid
    * writes too, into the place of the next event: that one's last owner is then just as far ahead.
    */
  private val longest = places + 1
  /** Nodes from the first register to the last one; over fewer, a register costs less than a place. */
  private val shortest = 3
}
