// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib.misc.pipeline._

/** The window w and the target w* of [[LogisticUnit]], with an exponent both, and which is the larger. */
private[calculation] class LogisticTarget(
    carried: Carried, schedule: LogisticSchedule, request: LogisticRequest, rates: LogisticRates) extends Area {
  import LogisticTarget._
  import carried.{far, nodes, normalized, product}
  import schedule._

  // ---- w* = {K - gamma (K - A)} tau, and w

  private val (time, _, timeZeros) = normalized(aimed, far(request.roundTrip, 0, aimed))
  private val nTimed = nodes(timed)
  private val aim = new nTimed.Area {
    val tau = insert(time)
    val distance = product(timed, tau, rates.aim >> 6)
    val exponent = insert(U(Scaled.one + 9, 7 bits) - rates.aim(5 downto 0) - timeZeros)
  }
  private val nDistanced = nodes(distanced)
  private val reach = new nDistanced.Area {
    val target = product(distanced, aim.distance >> 36, U(perSecond, 18 bits))
  }
  private val nTargeted = nodes(targeted)
  private val target = new nTargeted.Area {
    // All its zeros are in the first eight bits.
    val (_, mantissa, zeros) = normalized(targeted, reach.target.takeHigh(8).asUInt, reach.target)
  }
  private val (window, _, windowZeros) = normalized(weighed, far(request.window, 0, weighed))
  private val nKnown = nodes(known)
  private val know = new nKnown.Area {
    val star = insert(Scaled(aim.exponent - target.zeros, target.mantissa >> 18))
    val own = insert(Scaled(U(Scaled.one, 7 bits) - windowZeros, window >> 12))
  }
  private val nCompared = nodes(known + 1)
  private val order = new nCompared.Area {
    val decays = insert(know.star.asUnsigned < know.own.asUnsigned)
  }

  /** w* and w, from node `known` on. */
  val star: Payload[Scaled] = know.star
  val own: Payload[Scaled] = know.own
  /** The window shrinks, from the node after `known` on. */
  val decays: Payload[Bool] = order.decays
}

private object LogisticTarget {
  /** 1 / 10^10 with 51 fraction bits. */
  val perSecond = 225180
}
