// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.pipeline

import downbeat.config.DownbeatConfig
import downbeat.lib.RestingClock
import downbeat.lib.ecc.{Decoded, StateMemory}
import downbeat.lib.pipeline.{EventLink, HeldValues}
import spinal.core._
import spinal.lib.misc.pipeline._
import scala.collection.mutable

/** The engine's pipeline. An event moves one node a clock and never waits. A value that a stage puts on a node is
  * carried as far as a later stage reads it, and no farther.
  *
  * @param eventSpacing minimum clocks between two events
  */
class EnginePipeline(eventSpacing: Int, ecc: Boolean) extends Area {
  /** Two nodes for the first stage's read, five steps for each of five stages, one to form the outputs. */
  val nodes: Seq[Node] = Seq.tabulate(EnginePipeline.length)(i => Node().setCompositeName(this, s"node_$i"))
  def entry: Node = nodes.head
  def exit: Node = nodes.last

  /** The data registers behind a node take what it holds: with an event, or, where those follow each other clock by
    * clock, always, but in simulation.
    */
  val moves: Node => Bool =
    if (eventSpacing == 1) {
      val idle = new IdleStandsStill
      node => node.isValid || !idle.standsStill
    } else _.isValid

  /** For registers and memories that change with [[moves]] alone, and for nothing else: in simulation their clock
    * stands still while no event is on the node. Most events pass alone, and a simulator then evaluates one node. Not
    * with `ecc`, where a read has a register that counts it.
    */
  def behind[T](node: Node)(registers: => T): T = clocks.get(node).fold(registers)(_(registers))
  private lazy val clocks: Map[Node, ClockDomain] =
    if (eventSpacing == 1 && !ecc) nodes.map(node => node -> RestingClock.domain(node.isValid)).toMap else Map.empty

  private val stayed = mutable.Set[NamedType[_]]()
  /** The payload comes from registers behind a node, which [[moves]] tells when to change. */
  def staysUntilNext(payload: NamedType[_]): Unit = stayed += payload
  def stays(key: NamedTypeKey): Boolean = stayed.contains(key.tpe)

  private val doubleFlips = mutable.ArrayBuffer[Payload[Bool]]()
  /** With `ecc`: a word that the event needs has two flips, so transmit ends the connection. */
  def endsConnection(unreadable: Payload[Bool]): Unit = doubleFlips += unreadable
  /** Whether one of the words read so far has two flips. */
  def unreadable(node: Node): Bool = doubleFlips.map(node(_)).fold(False)(_ || _)

  /** Reads a stage's side memory with the address on `node`; the word stands on the next one, where `needed` says that
    * the event uses it. An event that needs a word with two flips ends the connection.
    */
  def readSide[T <: Data](memory: Mem[T], node: Node, address: UInt, needed: Node => Bool): SideWord[T] = {
    val next = nodes(nodes.indexOf(node) + 1)
    val read = behind(node)(
      StateMemory.read(memory, address, moves(node), counts = next.isValid && needed(next)))
    val unreadable = ecc generate next.insert(read.uncorrectable && next.isValid && needed(next))
    if (ecc) endsConnection(unreadable)
    SideWord(next.insert(read.word), unreadable)
  }

  /** To be called when every stage has placed its logic. */
  def build(): Unit = {
    val values = if (eventSpacing == 1) new CarriedValues(this) else new HeldValues(nodes, eventSpacing, stays)
    Builder(nodes.zip(nodes.tail).map { case (up, down) => new EventLink(up, down) })
  }

  /** No event on any node. */
  def isEmpty: Bool = !nodes.map(_.isValid).reduce(_ || _)
}

/** A word of a side memory; with `ecc`, whether it is needed and has two flips. */
case class SideWord[T <: Data](word: Payload[T], unreadable: Payload[Bool])

object EnginePipeline {
  /** Register steps in which a stage computes. */
  val steps = 5
  val stages = 5
  val length: Int = 2 + stages * steps + 2
}

/** One stage: a private memory of one word per flow, read, changed and written as an event passes.
  *
  * The word is addressed on the first node, registered twice, and stands on `steps(0)`; the stage computes until
  * `steps(5)` and writes there, seven nodes after the address. So events of one flow may follow each other every eight
  * clocks; the arbiter sees to that. The next stage reads while this one still computes: `steps(5)` here is `steps(0)`
  * there.
  */
abstract class Stage[S <: Data](config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals, index: Int,
    state: HardType[S])
    extends Area {
  private val first = EnginePipeline.steps * index
  /** The nodes on which the word is addressed and comes out of the memory. */
  protected val address: Node = pipeline.nodes(first)
  protected val fetched: Node = pipeline.nodes(first + 1)
  val steps: Seq[Node] = pipeline.nodes.slice(first + 2, first + 2 + EnginePipeline.steps + 1)
  require(first + 2 + EnginePipeline.steps - first == config.flowSpacing - 1,
    "a stage's read-modify-write spans flowSpacing - 1 nodes")

  /** None where the build gives the stage nothing to keep. */
  val memory: Mem[S] = (widthOf(state()) > 0) generate StateMemory(config.ecc, state, config.flows)
  if (memory != null) memory.addAttribute("no_rw_check") // events of one flow are too far apart to collide

  // A flow that was never opened has no word; protocol's are swept.
  private val exists = if (index == 0) fetched.isValid else fetched.isValid && fetched(signals.LIVE)
  private val read: Decoded[S] = (memory != null) generate
    pipeline.behind(address)(
      StateMemory.read(memory, address(signals.FLOW), pipeline.moves(address), counts = exists))
  /** The word has two flips, on `steps(0)`; with `ecc` alone. */
  protected val unreadable: Payload[Bool] =
    (config.ecc && memory != null) generate fetched.insert(read.uncorrectable && exists)
  // Protocol itself ends the connection.
  if (unreadable != null && index > 0) pipeline.endsConnection(unreadable)

  /** The flow's word as the last event left it, on `steps(0)`. */
  val before: Payload[S] = (memory != null) generate fetched.insert(restored(read))
  /** The stage may know a part of a word that has two flips. */
  protected def restored(read: Decoded[S]): S = read.word
  // In block RAM it comes out late in its clock: a register behind that is worth its bits.
  if (memory != null && config.flows <= Stage.distributed) pipeline.staysUntilNext(before)

  /** The word to write, given on `steps(5)`. A word with two flips stays so until the flow opens again. */
  def write(after: S, enable: Bool): Unit = if (memory != null) {
    if (config.ecc) StateMemory.poison(memory, steps.last(unreadable))
    pipeline.behind(steps.last)(memory.write(steps.last(signals.FLOW), after, enable && steps.last.isValid))
  }

  /** For the lost-update test: how many events of the flow this stage has counted, this one included. */
  val count: Option[Payload[UInt]] = if (config.stageCounters) {
    val counts = Mem(UInt(16 bits), config.flows) init Seq.fill(config.flows)(U(0, 16 bits))
    val seen = fetched.insert(counts.readSync(address(signals.FLOW), pipeline.moves(address)))
    val next = steps(4).insert(steps(4)(seen) + 1)
    counts.write(steps.last(signals.FLOW), steps.last(next), steps.last.isValid)
    Some(next)
  } else None
}

object Stage {
  /** Flows whose words an FPGA keeps in distributed RAM, with registers behind it: 16 x 4 bits each on an ECP5. */
  val distributed = 16
}
