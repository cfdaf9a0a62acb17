// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import spinal.core._
import spinal.lib.misc.pipeline._

/** What no stage looks at for several nodes waits in distributed RAM instead of moving from register to register.
  *
  * It is written on the node behind the one that has it and read on the node before the one that wants it, so both ends are registers.
  * The place is the event's index in the line modulo `places`; it travels with the event. That saves a third of the engine's registers:
  * what is smaller is placed closer together, and a simulator has less to move.
  */
class DelayMemories(pipeline: EnginePipeline) extends Area {
  import DelayMemories._
  private val nodes = pipeline.nodes

  private val INDEX = Payload(UInt(log2Up(places) bits))
  private val index = Reg(INDEX()) init 0
  when(pipeline.entry.isValid)(index := index + 1)
  pipeline.entry(INDEX) := index

  private case class Gap(key: NamedTypeKey, from: Int, to: Int)

  private val gaps: Seq[Gap] = {
    val keys = nodes.flatMap(_.keyToData.keys).distinct
    for {
      key <- keys
      seen = nodes.indices.filter(nodes(_).keyToData.contains(key))
      if widthOf(nodes(seen.head)(key)) >= narrowest
      (from, to) <- seen.zip(seen.tail)
      if to - from >= shortest
      middle = (from + to) / 2
      part <- if (to - from > longest) Seq(Gap(key, from, middle), Gap(key, middle, to)) else Seq(Gap(key, from, to))
    } yield part
  }

  for (gap <- gaps) {
    val writing = nodes(gap.from + 1)
    val reading = nodes(gap.to - 1)
    val word = writing(gap.key).asBits
    val memory = Mem(word, places)
    memory.write(writing(INDEX), word, pipeline.moves(writing))
    val out = nodes(gap.to)(gap.key).setAsReg()
    when(pipeline.moves(reading))(out.assignFromBits(memory.readAsync(reading(INDEX))))
  }

  /** The value comes to that node out of a memory, or passes by in one. */
  def carries(key: NamedTypeKey, node: Int): Boolean = gaps.exists(gap => gap.key == key && gap.from + 1 < node && node <= gap.to)
}

object DelayMemories {
  /** Words of one distributed RAM. */
  val places = 16
  /** Nodes; over more, an event could write before the one that had its place has been read. What carries nothing valid writes too,
    * into the place of the next event: that one's last owner is then just as far ahead.
    */
  private val longest = places + 1
  // Below these, registers are cheaper.
  private val shortest = 5 // nodes
  private val narrowest = 8 // bits
}
