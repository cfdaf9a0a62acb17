// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{Calculator, CalculatorUnit, EngineSizes}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** A request for the part of a window that waits in the path's queues. */
case class QueueShareRequest() extends Bundle {
  val window = UInt(32 bits) // bytes
  /** Sum of round trips, ns, and their number. */
  val total = UInt(48 bits)
  val count = UInt(12 bits)
  /** The unloaded round trip, ns. */
  val base = UInt(36 bits)
}

/** How much of a window waits in queues (Brakmo and Peterson 1995, their Diff in bytes): w (RTT - base) / RTT, for FAST
  * and Vegas.
  *
  * RTT is the mean total / count, so the share is w (total - count base) / total. Both are shifted right until total
  * has 32 bits. A mean below the base counts as the base. The response is rounded down, at most 2^32 - 1. A request
  * takes about 120 clocks, and as many as the shifted (total - count base) has bits.
  */
object QueueShare extends Calculator {
  val name = "queueshare"
  val requestBits: Int = 32 + 48 + 12 + 36
  val responseBits = 32
  def build(config: EngineSizes): CalculatorUnit = new QueueShareUnit(config)

  /** Units are those of [[QueueShareRequest]]. */
  def request(window: UInt, total: UInt, count: UInt, base: UInt): QueueShareRequest = {
    val request = QueueShareRequest()
    request.window := window
    request.total := total
    request.count := count
    request.base := base
    request
  }
}

/** The unit of [[QueueShare]]: one request at a time. */
class QueueShareUnit(config: EngineSizes) extends CalculatorUnit(config, QueueShare) {
  private val taken = Reg(QueueShareRequest())
  /** total - count base, ns. */
  private val excess = Reg(UInt(48 bits))
  private val weighed = Reg(UInt(SerialArithmetic.bits bits))
  private val arithmetic = new ArithmeticSteps
  import arithmetic.result

  io.response.valid := False
  io.response.payload := (result >> 32).orR ? B(32 bits, default -> True) | result(31 downto 0).asBits
  io.request.ready := False

  private val steps: StateMachine = new StateMachine {
    val rest, unload, shift, weigh, divide = new State
    setEntry(rest)
    rest.whenIsActive {
      io.request.ready := True
      taken.assignFromBits(io.request.operands)
      when(io.request.valid)(goto(unload))
    }
    unload.whenIsActive(arithmetic.product(taken.base, taken.count) {
      excess := (result(47 downto 0) < taken.total) ? (taken.total - result(47 downto 0)) | U(0, 48 bits)
      goto(shift)
    })
    shift.whenIsActive {
      when((taken.total >> 32).orR) {
        taken.total := taken.total |>> 1
        excess := excess |>> 1
      } otherwise goto(weigh)
    }
    weigh.whenIsActive(arithmetic.product(taken.window, excess) {
      weighed := result
      goto(divide)
    })
    divide.whenIsActive(arithmetic.quotient(weighed, taken.total) {
      io.response.valid := True
      goto(rest)
    })
  }
}
