// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import downbeat.time.Instant
import spinal.core._
import spinal.lib.misc.pipeline._

/** A policy's result: windows and policy state after the event. A policy that `paces` adds how the next segment leaves.
  * One with a calculator adds its request.
  */
case class PolicyResult(stateBits: Int, paces: Boolean = false, requestBits: Int = 0, bounds: Boolean = false)
    extends Bundle {
  val window = Window()
  val policyState = Bits(stateBits bits)
  val departure = paces generate DeparturePlan()
  val calculation = (requestBits > 0) generate Calculation(requestBits)
  /** With `loss`, if `bounded`: no window and no ssthresh above so many bytes. */
  val bounded = bounds generate Bool()
  val bound = bounds generate UInt(32 bits)
  /** The policy gives up a window that was not safe: the path report counts it. */
  val retreats = bounds generate Bool()
}

/** The steps in which a policy computes. On `s0` the event, the window and the policy state are in registers. The
  * result is due on `s3`, three register steps later. At most one 48-bit addition or comparison and a 2:1 choice fit
  * between two nodes.
  *
  * @param now         when the engine took the event, ns
  * @param delivery    the sample of the delivery rate, on `s3`
  * @param calculating the connection has a calculation under way, so that another request is not taken
  * @param calculated  the response; read it with the kind of that name
  */
class PolicyPipe(
    val nodes: Seq[Node], val event: Payload[CongestionEvent], val window: Payload[Window],
    val policyState: Payload[Bits],
    val now: Payload[Instant], val delivery: Payload[DeliverySample], val calculating: Payload[Bool],
    val calculated: Payload[Calculated])
    extends Area {
  require(nodes.size == PolicyPipe.steps + 1)
  val Seq(s0, s1, s2, s3) = nodes

  /** The same for a policy with another policy state. */
  def withState(policyState: Payload[Bits]): PolicyPipe =
    new PolicyPipe(nodes, event, window, policyState, now, delivery, calculating, calculated)

  /** The policy state before the event, as the policy's own type of as many bits. */
  def stateBefore[T <: Data](state: T): Payload[T] = new s0.Area {
    val before = insert(policyState.as(state))
  }.before
}

object PolicyPipe {
  /** Register steps between a policy's first and last node. */
  val steps = 3
}

/** A congestion policy: one result for every event, from that event and the policy state alone.
  *
  * Two policies share a connection. While cwnd < ssthresh the ''start-up'' policy grows the window. From
  * cwnd = ssthresh on the ''steady'' policy does, and it alone says what ssthresh a loss leaves. The stage itself
  * sets the windows between loss and recovery (RFC 6582): inflation, deflation and the loss window.
  *
  * A policy keeps no registers beyond its pipeline. What it must remember is in its policy state.
  */
trait Policy {
  /** The name in commands, reports and documentation, in lower case. */
  def name: String
  /** A new bundle for the policy state. By default a policy keeps nothing. */
  def state: Bundle = new Bundle {}
  final lazy val stateBits: Int = widthOf(state)
  /** The numbers that a connection may give. The policy state begins as these bits, with zeros above them. */
  def arguments: Arguments = Arguments()
  final def argumentBits: Int = arguments.bits
  /** The policy says how segments leave ([[DeparturePlan]]). Otherwise they leave as the connection was opened. */
  def paces: Boolean = false
  /** A start-up policy that bounds what a loss leaves. */
  def bounds: Boolean = false
  /** The policy reads `rates`. */
  def estimatesRates: Boolean = false
  /** The policy reads `delivery`. */
  def samplesDelivery: Boolean = false
  /** The policy reads `inline` and sends the streams of probes that it wants. */
  def measuresInline: Boolean = false
  /** The unit that computes what takes longer than three steps. */
  def calculator: Option[Calculator] = None
  final def requestBits: Int = calculator.fold(0)(_.requestBits)
  def build(pipe: PolicyPipe): Payload[PolicyResult]
}

/** Grows the window from the opening to ssthresh. The stage takes its windows on `established`, `restart` and
  * `estimated`, on `acknowledged` while `startingUp`, and on `calculated` if it made the request. It takes its policy
  * state always.
  */
trait StartupPolicy extends Policy

/** Grows the window from ssthresh on and sets ssthresh after a loss. The stage takes its windows on `acknowledged` when
  * not `startingUp`, its ssthresh on `loss` and `timeout`, its windows on `measured`, and on `calculated` if it made
  * the request. It takes its policy state always.
  */
trait SteadyPolicy extends Policy {
  /** The policy has a model of the path that outlasts reductions and idleness: with `undone` it keeps its state, with
    * `restart` its window, a response counts after a loss too, and it bounds itself the growth of a window that is not
    * used.
    */
  def modelsPath: Boolean = false
}
