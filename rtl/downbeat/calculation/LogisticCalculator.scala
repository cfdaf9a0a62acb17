// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{Calculator, CalculatorUnit, EngineSizes}
import spinal.core._
import spinal.lib._

/** A request to the logistic unit. No field but `available`, `elapsed` and `gamma` may be zero. */
case class LogisticRequest() extends Bundle {
  /** K and A: bytes per second, 10 fraction bits. An A above K counts as K. */
  val capacity, available = UInt(44 bits)
  /** tau, ns. */
  val roundTrip = UInt(36 bits)
  /** t, ns. */
  val elapsed = UInt(34 bits)
  /** w: bytes, 16 fraction bits. */
  val window = UInt(48 bits)
  /** 320 eps. */
  val epsilon = UInt(16 bits)
  /** 640 gamma, at most [[LogisticUnit.largestGamma]]. */
  val gamma = UInt(10 bits)
}

/** The logistic window for a policy. A request is a [[LogisticRequest]]; the response is bytes with 16 fraction bits.
  */
object LogisticCalculator extends Calculator {
  val name = "logistic"
  val requestBits: Int = 2 * 44 + 36 + 34 + 48 + 16 + 10
  val responseBits = 48
  override def underWay(config: EngineSizes): Int =
    if (single(config)) super.underWay(config) else 1 << log2Up(LogisticUnit.latency(single = false))

  /** One request at a time, in an engine with several clocks from one event to the next. */
  private def single(config: EngineSizes) = config.eventSpacing > 1

  def build(config: EngineSizes): CalculatorUnit = new CalculatorUnit(config, this) {
    private val unit = LogisticUnit(single(config))
    private val busy = if (single(config)) RegInit(False) else False
    if (single(config)) busy := (busy || io.request.fire) && !unit.io.response.valid
    io.request.ready := !busy
    unit.io.request.valid := io.request.fire
    unit.io.request.payload.assignFromBits(io.request.operands)
    io.response.valid := unit.io.response.valid
    io.response.payload := unit.io.response.payload.asBits
  }
}
