// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion.{DeparturePlan, Pace}
import spinal.core._

/** The policy state of Paced Start. */
case class PastState() extends Bundle {
  import PastState._
  /** The argument. */
  val bisect = Bool()
  /** The current train, or the latest, has 2 to the power of this, and so many of its segments have left. */
  val train = UInt(3 bits)
  val position = UInt(6 bits)
  /** Its output gaps that are known, ns: how many, and their sum. */
  val count = UInt(5 bits)
  val sum = UInt(sumBits bits)
  /** (1 + theta) times the sum of its input gaps. It is one event late. */
  val limit = UInt(sumBits bits)
  /** The input gap of the train, or of the next one; the result. ns */
  val gap = UInt(gapBits bits)
  /** The largest gap that was too small; the smallest that was not. Zero: none. */
  val low, high = UInt(gapBits bits)
  /** The train has its verdict; the result is known; the estimate is made, or there will be none. */
  val judged, done, over = Bool()

  /** The next segment waits for its train, or leaves a gap after the one before; those of the first train leave back to
    * back.
    */
  def departure: DeparturePlan = {
    val size = sizeOf(train)
    val begins = !position.orR || position === size
    val plan = CombInit(DeparturePlan.configured).allowOverride()
    when(!over && !done && !(train === last && position === size)) {
      plan.pace := (begins || train =/= 1) ? Pace.apart | Pace.adjacent
      plan.time := ((begins ? U(0, gapBits bits) | gap) << 16).resized
      plan.probe := True
      plan.begins := begins
      when(begins)(plan.minimumSegments := position.orR ? (size |<< 1) | size)
    }
    plan
  }
}

object PastState {
  val gapBits = 36
  /** The width of a sum of 31 gaps. */
  val sumBits: Int = gapBits + 5
  /** The last train has 2 to the power of this. */
  val last = 5

  /** Segments of a train. */
  def sizeOf(train: UInt): UInt = (U(1, 6 bits) |<< train).resize(6)
  /** 2 gap, or all ones. */
  def doubled(gap: UInt): UInt = gap.msb ? U(gapBits bits, default -> True) | (gap |<< 1)
}
