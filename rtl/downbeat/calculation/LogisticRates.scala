// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib.misc.pipeline._

/** The rates of [[LogisticUnit]]: K - gamma (K - A) in terms of K, which gives the exponent, and scaled for the target.
  */
private[calculation] class LogisticRates(
    carried: Carried, schedule: LogisticSchedule, single: Boolean, request: LogisticRequest) extends Area {
  import LogisticRates._
  import carried.{far, nodes, normalized, product}
  import schedule._

  // ---- K and 640 K - 640 gamma (K - A), scaled so that K's top bit is set

  private val n0 = nodes(0)
  private val take = new n0.Area {
    val capacity = insert(request.capacity)
    val available = insert(request.available)
    val exceeds = insert(capacity < available)
    val gamma = insert(request.gamma)
    val large = !(request.epsilon < largeEpsilon)
    val growth = product(0, insert(request.epsilon), U(growthUnit, 18 bits))
  }
  private val n1 = nodes(1)
  private val distance = new n1.Area {
    val taken = insert(take.exceeds ? U(0, 44 bits) | (take.capacity - take.available))
  }
  private val n2 = nodes(2)
  private val weigh = new n2.Area {
    val high = product(2, distance.taken >> 36, take.gamma)
    val low = product(2, distance.taken.resize(36), take.gamma)
  }
  private val nReduced = nodes(reduced)
  private val reduce = new nReduced.Area {
    val competition = insert((weigh.high @@ U(0, 36 bits)) + weigh.low.resize(54))
    val whole = insert((take.capacity << 9).resize(54) + (take.capacity << 7).resize(54))
  }
  private val nSubtracted = nodes(reduced + 1)
  private val subtract = new nSubtracted.Area {
    val rate = insert(reduce.whole - reduce.competition)
  }
  private val nSummed = nodes(summed)
  private val normalize = new nSummed.Area {
    val (capacity, rate, shift) = normalized(summed, take.capacity, subtract.rate)
  }

  // ---- y = x log2(e) = t per ns

  private val nScaled = nodes(scaled)
  private val scale = new nScaled.Area {
    val rate = insert(normalize.rate >> 18)
    val shift = insert(normalize.shift)
    val divider = Divider(60, 32, 28, single)
    divider.io.request.valid := valid
    divider.io.request.numerator := rate @@ U(0, 24 bits)
    divider.io.request.denominator := normalize.capacity >> 12
    val aim = far(rate @@ apply(shift), scaled, timed)
  }
  private val nGrown = nodes(Product.latency)
  private val grow = new nGrown.Area {
    val growth = far((take.growth >> 8).resize(26), Product.latency, shared)
  }
  private val nShared = nodes(shared)
  private val share = new nShared.Area {
    val ofCapacity = insert(scale.divider.io.response.payload)
    val growth = insert(grow.growth)
    val pace = product(shared, ofCapacity, growth)
  }
  private val nMultiplied = nodes(multiplied)
  private val pace = new nMultiplied.Area {
    val perNs = insert(far(take.large, 0, multiplied) ? (share.pace >> 18).resize(36) | (share.pace >> 11).resize(36))
  }
  private val nPaced = nodes(paced)
  private val exponent = new nPaced.Area {
    val y = product(paced, far(request.elapsed, 0, paced), pace.perNs)
  }
  private val nBounded = nodes(saturated)
  private val bound = new nBounded.Area {
    private val more = (exponent.y >> 3).resize(67)
    private val bounded = (more >> 60).orR ? U(60 bits, default -> True) | more.resize(60)
    val y = insert(far(take.large, 0, saturated) ? bounded | (exponent.y >> 10).resize(60))
  }

  /** x log2(e), 54 fraction bits, from node `judged` on. */
  val y: Payload[UInt] = bound.y
  /** K - gamma (K - A), 36 bits, and below them by how much it was shifted left, 6 bits; on node `timed`. */
  val aim: UInt = scale.aim
}

private object LogisticRates {
  /** log2(e) / (320 10^10) with 59 fraction bits. */
  val growthUnit = 259893
  /** From here on x has fewer fraction bits. */
  val largeEpsilon = 768
}
