// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.CubicResponse
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The growth of CUBIC by the response of [[downbeat.calculation.CubicGrowth]]: by (target - cwnd) / cwnd for each byte
  * (RFC 9438 4.4, 4.5), or to W_est where that is above (4.3).
  */
class CubicIncrease(pipe: PolicyPipe, before: Payload[CubicState]) extends Area {
  import CubicState.saturated
  import pipe._

  private val add = new s0.Area {
    private val response = calculated.response.as(CubicResponse())
    val grown = insert(window.cwnd + response.increase.resize(48))
    val wEst = insert(before.wEst +^ response.wEstIncrease)
    val unaccounted = insert((before.acked -^ calculated.note(29 downto 0).asUInt).asSInt)
  }
  private val bound = new s1.Area {
    val wEst = insert(saturated(add.wEst, 46))
  }
  private val compare = new s2.Area {
    val belowEst = insert(window.cwnd < bound.wEst.resize(48))
  }
  private val choose = new s3.Area {
    private val friendly = Mux[UInt](compare.belowEst, bound.wEst.resize(48), window.cwnd)
    val cwnd = Mux[UInt](calculated.response.as(CubicResponse()).friendly, friendly, add.grown)
    val unaccounted = add.unaccounted.msb ? U(0, 30 bits) | add.unaccounted.asUInt.resize(30)
  }
  /** Bytes with 16 fraction bits, on the last node. */
  val cwnd: UInt = choose.cwnd
  /** From the second node on. */
  val wEst: Payload[UInt] = bound.wEst
  /** Acknowledged bytes for which the window has not grown yet, on the last node. */
  val unaccounted: UInt = choose.unaccounted
}
