// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** CUBIC's time, in ticks of 1,024 ns, and its smoothed round trip: an average with 1/8 of the first sample of each round
  * trip (RFC 6298), to 8 ticks.
  *
  * Time passes only while the window is `busy`, that is at least half of it is in flight (RFC 9438 4.2).
  */
class CubicTime(pipe: PolicyPipe, before: Payload[CubicState]) extends Area {
  import pipe._
  private def ticks(ns: UInt): UInt = ns(39 downto 10)

  private val subtract = new s0.Area {
    val deviation = insert((event.rtt(35 downto 10) -^ before.roundTrip).asSInt)
    val unmeasured = insert(!before.roundTrip.orR || event.kind === CongestionEventKind.established)
    val elapsed = insert(ticks(now.ns) - before.countedAt)
  }

  private val add = new s1.Area {
    val smoothed = insert((before.roundTrip.resize(27).asSInt + (subtract.deviation >> 3).resize(27)).asUInt.resize(26))
    val tMinusK = insert(before.tMinusK.resize(32) + subtract.elapsed.resize(32).asSInt)
    val busy = insert(!((event.flight << 1) < window.cwnd(47 downto 16).resize(33)))
  }
  /** From the second node on. */
  val busy: Payload[Bool] = add.busy

  private val choose = new s3.Area {
    val tMinusK = add.tMinusK.sat(1)
    val sample = Mux[UInt](subtract.unmeasured, event.rtt(35 downto 10), add.smoothed)
    val countedAt = ticks(now.ns)
    val sampled = event.rttValid && event.rttFirst
  }
  /** On the last node, if the time that has passed counts. */
  val tMinusK: SInt = choose.tMinusK
  /** On the last node: there is such a sample, and the average with it. */
  val sampled: Bool = choose.sampled
  val roundTrip: UInt = choose.sample
  val ticksNow: UInt = choose.countedAt
}
