// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

/** The nodes of [[LogisticUnit]] on which its intermediate results are in registers. A node is a clock. */
private[calculation] class LogisticSchedule(single: Boolean) {
  val reduced: Int = 2 + Product.latency
  val summed: Int = reduced + 2
  val scaled: Int = summed + Normalized.latency(44, single)
  val shared: Int = scaled + Divider.latency(28)
  val multiplied: Int = shared + Product.latency
  val paced: Int = multiplied + 1
  val saturated: Int = paced + Product.latency
  val judged: Int = saturated + 1
  val known: Int = judged - 2
  val targeted: Int = known - Normalized.latency(8, single)
  val distanced: Int = targeted - Product.latency
  val timed: Int = distanced - Product.latency
  val aimed: Int = timed - Normalized.latency(36, single)
  val weighed: Int = known - Normalized.latency(48, single)
  val sorted: Int = judged + 1
  val aligned: Int = judged + 2
  val compared: Int = aligned + ShiftedRight.latency(single)
  val factored: Int = judged + Exponential.latency(single)
  val parted: Int = factored + Product.latency
  val shifted: Int = parted + 1
  val added: Int = shifted + ShiftedRight.latency(single)
  val divided: Int = added + 1
  val widened: Int = divided + Divider.latency(40)
  val rounded: Int = widened + ShiftedRight.latency(single)
}
