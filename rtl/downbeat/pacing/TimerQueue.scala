// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.pacing

import downbeat.lib.ecc.StateMemory
import downbeat.messages.NextInstant
import downbeat.time.Instant
import spinal.core._
import spinal.lib._

/** An entry: the instant at which the flow is due, if armed. */
case class Entry[T <: Data](contentType: HardType[T]) extends Bundle {
  val armed = Bool()
  val at = Instant()
  val content = contentType()
}

/** An entry and its flow. A flow's newest entry replaces the others. */
case class FlowEntry[T <: Data](flows: Int, contentType: HardType[T]) extends Bundle {
  val flow = UInt(log2Up(flows) bits)
  val entry = Entry(contentType)
}

/** A queue of one entry for each flow, ordered by their instants. The timers and the pacer share it.
  *
  * The table holds the entries and is always right. The tournament tree says where to look, and may be some clocks
  * behind. So the entry that the root shows as due is looked up; it is delivered and disarmed together in a clock
  * without a post. If its flow was posted to since the look-up, the newer entry holds and nothing is delivered. A post
  * is so never lost, neither by the delivery of the entry before nor by its disarming.
  *
  * Posts go first. A delivery waits for a clock without a post, which any traffic of real frames leaves.
  */
case class TimerQueue[T <: Data](flows: Int, content: HardType[T], ecc: Boolean = false) extends Component {
  val io = new Bundle {
    val posts = slave(Flow(FlowEntry(flows, content)))
    val now = in(Instant())
    val due = master(Stream(FlowEntry(flows, content)))
    val next = out(NextInstant())
    val idle = out(Bool())
  }
  noIoPrefix()

  private val post = io.posts.m2sPipe(holdPayload = true)
  private val table = StateMemory(ecc, Entry(content), flows)
  table.addAttribute("no_rw_check") // a look-up that meets a post is thrown away
  table.write(post.flow, post.entry, enable = post.valid)

  private val tree = TournamentTree(flows, ecc = ecc)
  private val root = tree.io.root
  private val rootDue = root.armed && io.now.hasReached(Instant(root.time))
  private val due = RegNext(rootDue) init False

  private object Step extends SpinalEnum {
    val watch, read, load, compare, commit, settle = newElement()
  }
  private val step = RegInit(Step.watch)
  private val candidate = Reg(UInt(log2Up(flows) bits))
  private val replaced = Reg(Bool())
  private val found = RegNextWhen(table.readSync(candidate, enable = step === Step.read), step === Step.load)
  private val foundDue = RegNext(found.armed && io.now.hasReached(found.at))
  private val delivering = RegInit(False)
  /** Clocks until the root knows of every update so far: the climb, and the register of `due`. */
  private val settling = Reg(UInt(log2Up(TournamentTree.clocks(flows) + 2) bits))

  private val disarm = False
  when(post.valid && post.flow === candidate)(replaced := True)
  switch(step) {
    is(Step.watch) {
      replaced := False
      when(due && !delivering) {
        candidate := root.index
        step := Step.read
      }
    }
    is(Step.read)(step := Step.load)
    is(Step.load)(step := Step.compare)
    is(Step.compare)(step := Step.commit)
    is(Step.commit) {
      settling := TournamentTree.clocks(flows) + 1
      when(replaced || !foundDue) {
        step := Step.settle
      } elsewhen (!post.valid) {
        disarm := True
        delivering := True
        step := Step.settle
      }
    }
    is(Step.settle) {
      settling := settling - 1
      when(settling === 0)(step := Step.watch)
    }
  }
  when(io.due.fire)(delivering := False)
  io.due.valid := delivering
  io.due.flow := candidate
  io.due.entry := found

  tree.io.update.valid := post.valid || disarm
  tree.io.update.index := disarm ? candidate | post.flow
  tree.io.update.armed := post.entry.armed && !disarm
  tree.io.update.time := post.entry.at.ns

  // Only a settled tree knows the next instant; before that the response is "now".
  private val quiet = tree.io.settled && !post.valid && step === Step.watch && !delivering
  io.next.armed := root.armed || !quiet
  io.next.at.ns := quiet ? root.time | io.now.ns
  io.idle := quiet && !rootDue && !due
}
