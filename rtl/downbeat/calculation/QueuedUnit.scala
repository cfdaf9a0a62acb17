// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.CalculatorUnit
import spinal.core._
import spinal.lib._

/** A unit that is no calculator of a policy, so that no calculation waits for it, with a queue before it.
  *
  * A message goes in only while there is `space`. It is false early enough for the messages that the pipeline still
  * brings.
  *
  * @param messages what goes in
  * @param queue    where it waits
  * @param flow     whose it is
  * @param operands the request as the unit takes it
  */
class QueuedUnit[T <: Data](unit: CalculatorUnit, messages: Flow[T], queue: StreamFifo[T])(
    flow: T => UInt, operands: T => Bits) extends Area {
  queue.io.push.valid := messages.valid
  queue.io.push.payload := messages.payload
  val space: Bool = RegNext(queue.io.availability > QueuedUnit.spare) init False

  private val head = queue.io.pop.halfPipe()
  private val (issued, remembered) = StreamFork2(head, synchronous = true)
  unit.io.request.arbitrationFrom(issued)
  unit.io.request.flow := flow(issued.payload)
  unit.io.request.operands := operands(issued.payload)

  private val requested = remembered.halfPipe()
  /** Each message with its response. */
  val responses: Stream[TupleBundle2[T, Bits]] = StreamJoin(requested, unit.io.response.toStream.halfPipe())
  val idle: Bool = !messages.valid && !queue.io.occupancy.orR && !head.valid && !requested.valid
}

object QueuedUnit {
  /** Messages that may still come when the queue seems to have no space. */
  private val spare = 8
}
