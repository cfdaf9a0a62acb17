// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._
import spinal.lib._

/** Copies a value from another clock domain: whole, in order, and at most two round trips old. */
class NewestCopy[T <: Data](source: T, from: ClockDomain, to: ClockDomain, init: => T) extends Area {
  private val crossing =
    new StreamCCByToggle(cloneOf(source), from, to, withOutputBufferedReset = false, initPayload = init)
  crossing.io.input.valid := True
  crossing.io.input.payload := source
  crossing.io.output.ready := True
  val value: T = crossing.io.output.payload
}
