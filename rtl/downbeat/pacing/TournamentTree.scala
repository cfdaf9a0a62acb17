// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.pacing

import downbeat.lib.ecc.StateMemory
import spinal.core._
import spinal.lib._

/** One entrant of a tournament: when it wants attention, if it does. */
case class Entrant(entries: Int, timeBits: Int) extends Bundle {
  val index = UInt(log2Up(entries) bits)
  val armed = Bool()
  /** Modulo 2^timeBits; entrants lie less than half of that apart. */
  val time = UInt(timeBits bits)

  def isBefore(that: Entrant): Bool = armed && (!that.armed || (time - that.time).msb)
}

/** The exact earliest of `entries` times, one update a clock.
  *
  * A knock-out tournament with one memory for each round; round r holds a node for each 2^r entrants. An update
  * climbs from its leaf to the root: in each round it writes its own node, reads the node's sibling and goes on
  * with the earlier of the two.
  *
  * '''Why updates in flight may not disturb each other.''' All updates meet a round in the order in which they came,
  * one a clock, each after the same number of clocks. Of two that meet in a pair of siblings the later one reads what
  * the earlier one wrote (a clock ago at least; own node and sibling are never the same word, so no read meets a
  * write). The last update of a pair hence carries the earlier of both present nodes, and it is the last to write their
  * parent. By induction over the rounds every node is right once no update is in flight, the root with it: `settled`.
  * Until then the root may be that of a moment ago.
  *
  * After reset the tree disarms all nodes, for `entries` clocks. It takes no update and is not `settled` meanwhile.
  */
case class TournamentTree(entries: Int, timeBits: Int = 48, ecc: Boolean = false) extends Component {
  require(isPow2(entries) && entries >= 2, s"entries = $entries: use a power of two from 2")
  require(timeBits >= 2 && timeBits <= 64,
    s"timeBits = $timeBits: the comparison of a round takes one clock, use 2 to 64")

  val io = new Bundle {
    val update = slave(Flow(Entrant(entries, timeBits)))
    val root = out(Entrant(entries, timeBits))
    val settled = out(Bool())
  }
  noIoPrefix()

  private val sweep = Reg(UInt(log2Up(entries) + 1 bits)) init 0
  private val sweeping = !sweep.msb
  when(sweeping)(sweep := sweep + 1)
  assert(!(sweeping && io.update.valid), "an update before the sweep after reset has ended", ERROR)

  private val champion = (0 until log2Up(entries)).foldLeft(io.update)((challenger, r) =>
    Round(r, challenger).setName(s"round$r").risen)
  private val root = Reg(Entrant(entries, timeBits))
  root.armed.init(False)
  when(champion.valid)(root := champion.payload)
  io.root := root

  private val climbing = Reg(UInt(log2Up(TournamentTree.clocks(entries) + 1) bits)) init 0
  when(io.update.valid)(climbing := TournamentTree.clocks(entries)) elsewhen (climbing =/= 0)(climbing := climbing - 1)
  io.settled := climbing === 0 && !sweeping

  private case class Round(r: Int, challenger: Flow[Entrant]) extends Area {
    val nodes = entries >> r
    private def nodeOf(entrant: Entrant) = entrant.index(log2Up(entries) - 1 downto r)
    val node = nodeOf(challenger)
    val sibling = node ^ 1

    // A node names its entrant by the index bits below its own.
    val word = challenger.index.resize(r) ## (challenger.armed && !sweeping) ## challenger.time
    val memory = StateMemory(ecc, Bits(word.getWidth bits), nodes)
    memory.addAttribute("no_rw_check")
    memory.write(
      address = sweeping ? sweep.resize(node.getWidth) | node,
      data = word,
      enable = sweeping || challenger.valid)

    val climber = Flow(Entrant(entries, timeBits))
    val read = cloneOf(word)
    if (nodes > TournamentTree.lutRamNodes) {
      val fetched = challenger.m2sPipe(holdPayload = true)
      climber << fetched.m2sPipe(holdPayload = true)
      read := RegNextWhen(memory.readSync(sibling, enable = challenger.valid), fetched.valid)
    } else {
      climber << challenger.m2sPipe(holdPayload = true)
      read := RegNextWhen(StateMemory.readAsync(memory, sibling, counts = challenger.valid), challenger.valid)
    }

    val opponent = Entrant(entries, timeBits)
    opponent.time := read.resize(timeBits).asUInt
    opponent.armed := read(timeBits)
    opponent.index := (nodeOf(climber) ^ 1) @@ read.dropLow(timeBits + 1).asUInt

    val winner = climber.translateWith(opponent.isBefore(climber) ? opponent | climber.payload)
    // The last round ends in the root's own register.
    val risen = if (nodes > 2) winner.m2sPipe(holdPayload = true) else winner
  }
}

object TournamentTree {
  /** Rounds with more nodes are in block RAM, which takes a clock more. */
  val lutRamNodes = 64

  /** From an update to its effect on the root. */
  def clocks(entries: Int): Int =
    (0 until log2Up(entries)).map(r => if ((entries >> r) > lutRamNodes) 3 else 2).sum
}
