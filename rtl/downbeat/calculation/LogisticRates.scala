// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib.misc.pipeline._

/** The rates of [[LogisticUnit]]: K + 9 A in terms of K, which gives the exponent, and scaled for the target. */
private[calculation] class LogisticRates(carried: Carried, single: Boolean, request: LogisticRequest) extends Area {
  import LogisticRates._
  import LogisticSchedule._
  import carried.{far, nodes, product}

  // ---- K and K + 9 A, scaled so that K's top bit is set

  private val Seq(n0, n1, n2, n3, nSummed) = nodes.take(summed + 1)
  private val ask = new n0.Area {
    val capacity = insert(request.capacity)
    val available = insert(request.available)
    val exceeds = insert(capacity < available)
  }
  private val bound = new n1.Area {
    val available = insert(Mux[UInt](ask.exceeds, ask.capacity, ask.available))
  }
  private val multiply = new n2.Area {
    val ninefold = insert((bound.available << 3).resize(48) + bound.available)
  }
  private val sum = new n3.Area {
    val rate = insert(multiply.ninefold + ask.capacity)
  }
  private val normalize = new nSummed.Area {
    val (capacity, rate, shift) = Normalized(ask.capacity, sum.rate)
  }

  // ---- y = x log2(e) = t per ns

  private val nScaled = nodes(scaled)
  private val scale = new nScaled.Area {
    val rate = insert(normalize.rate >> 12)
    val shift = insert(normalize.shift)
    val divider = Divider(60, 32, 28, single)
    divider.io.request.valid := valid
    divider.io.request.numerator := rate @@ U(0, 24 bits)
    divider.io.request.denominator := normalize.capacity >> 12
    val aim = far(rate @@ apply(shift), scaled, timed)
  }
  private val nShared = nodes(shared)
  private val share = new nShared.Area {
    val ofCapacity = insert(scale.divider.io.response.payload)
    val pace = product(shared, ofCapacity, U(growthQuarters, 18 bits))
  }
  private val nMultiplied = nodes(multiplied)
  private val pace = new nMultiplied.Area {
    val perNs = insert((((share.pace @@ U(0, 2 bits)) + share.ofCapacity) >> 11).resize(36))
  }
  private val nPaced = nodes(paced)
  private val exponent = new nPaced.Area {
    val y = product(paced, far(request.elapsed, 0, paced), pace.perNs)
  }

  /** x log2(e), 64 fraction bits, from node `judged` on. */
  val y: Payload[UInt] = exponent.y
  /** K + 9 A, 36 bits, and below them by how much it was shifted left, 6 bits; on node `timed`. */
  val aim: UInt = scale.aim
}

private object LogisticRates {
  /** 1.95 log2(e) / 10^10 with 51 fraction bits is four times this and one. */
  val growthQuarters = 158372
}
