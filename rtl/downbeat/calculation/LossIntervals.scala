// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{Calculator, CalculatorRequest, CalculatorUnit, EngineSizes}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._
import spinal.lib.math.UnsignedDivider

/** A loss interval to be kept, and the mean of how many to be told. */
case class LossIntervalsRequest() extends Bundle {
  /** Acknowledged between two loss events; from 2^31 on the interval counts as the longest. */
  val bytes = UInt(32 bits)
  val segmentSize = UInt(16 bits)
  /** Where in the connection's history it belongs; the one before it is at place - 1. */
  val place = UInt(5 bits)
  /** So many intervals count, this one included: 1 to 32. */
  val count = UInt(6 bits)
}

case class LossIntervalsResponse() extends Bundle {
  /** Weighted mean, packets with 8 fraction bits. */
  val mean = UInt(28 bits)
  /** The mean of the 16 newest, likewise. */
  val newest = UInt(28 bits)
  /** The mean of the four newest is below half of the weighted mean. */
  val fallen = Bool()
}

/** WALI-32: the weighted mean of a connection's last 32 loss intervals (Kannan, thesis, 4.2.2 and 4.4; after Floyd, Handley, Padhye, Widmer 2000).
  *
  * I = min(floor(bytes / SMSS), 2^20 - 1) packets. With i = 1 for the newest, w_i = 17 for i <= 16 and 33 - i beyond (the paper's, times 17):
  *
  *   mean = floor(256 sum(w_i I_i) / sum(w_i)) over the `count` newest, newest = floor(256 sum(I_1..I_16) / 16)
  *
  * No product: from the 17th on sum((33 - i) I_i) is the sum of the sums I_17 + ... + I_k for k = 17..32, and what is absent counts zero.
  *
  * The history is the unit's, 32 x 20 bits for each flow. A request writes a place and reads those before it, so to ask it twice does no harm,
  * and what counts is only as old as the asker says. About 120 clocks for each.
  */
object LossIntervals extends Calculator {
  val name = "lossintervals"
  val requestBits: Int = 59
  val responseBits: Int = 57
  val entries = 32
  val entryBits = 20
  def build(config: EngineSizes): CalculatorUnit = new LossIntervalsUnit(config)
}

class LossIntervalsUnit(config: EngineSizes) extends CalculatorUnit(config, LossIntervals) {
  import LossIntervals._

  private val asked = Reg(CalculatorRequest(config, requestBits))
  private val request = asked.operands.as(LossIntervalsRequest())
  private val divider = new UnsignedDivider(nWidth = 37, dWidth = 16, storeDenominator = true)
  private val history = Mem(UInt(entryBits bits), config.flows * entries)
  history.addAttribute("no_rw_check") // written in a state of its own

  /** The sum of the newest 16, then of those beyond; the weighted sum; both again of ones: the sum of weights. */
  private val sum = Reg(UInt(24 bits))
  private val weighted = Reg(UInt(29 bits))
  private val ones = Reg(UInt(5 bits))
  private val weights = Reg(UInt(9 bits))
  private val newest16 = Reg(UInt(24 bits))
  private val newest4 = Reg(UInt(22 bits))
  private val index = Reg(UInt(6 bits))

  private val quotient = divider.io.rsp.quotient
  private val interval = Reg(UInt(entryBits bits))
  private val writes, reads, adds = False
  history.write(asked.flow @@ request.place, interval, writes)
  private val entry = RegNext(history.readSync(asked.flow @@ (request.place - index.resize(5)), reads)) // a block RAM takes half a clock
  /** The entry's place in the history, from 1 for the newest on; whether it counts. */
  private val position = RegNext(index)
  private val counts = RegNext(index <= request.count)

  divider.io.flush := False
  divider.io.cmd.valid := False
  divider.io.cmd.numerator := request.bytes.resized
  divider.io.cmd.denominator := request.segmentSize
  divider.io.rsp.ready := True
  io.request.ready := False
  io.response.valid := False

  new StateMachine {
    val idle = makeInstantEntry()
    val countPackets, awaitPackets, store, scan, divide, awaitMean = new State

    idle.whenIsActive {
      io.request.ready := True
      asked := io.request.payload
      when(io.request.valid)(goto(countPackets))
    }
    countPackets.whenIsActive {
      divider.io.cmd.valid := True
      when(divider.io.cmd.ready)(goto(awaitPackets))
    }
    awaitPackets.whenIsActive {
      val longest = request.bytes.msb || (quotient >> entryBits).orR
      interval := longest ? U(entryBits bits, default -> True) | quotient.resize(entryBits)
      when(divider.io.rsp.valid)(goto(store))
    }
    store.whenIsActive {
      writes := True
      index := 0
      sum := 0
      weighted := 0
      ones := 0
      weights := 0
      goto(scan)
    }
    // An entry comes two clocks after its index.
    scan.whenIsActive {
      reads := True
      adds := index > 1
      index := index + 1
      when(index === entries + 1)(goto(divide))
    }
    divide.whenIsActive {
      divider.io.cmd.valid := True
      divider.io.cmd.numerator := weighted @@ U(0, 8 bits)
      divider.io.cmd.denominator := weights.resized
      when(divider.io.cmd.ready)(goto(awaitMean))
    }
    awaitMean.whenIsActive {
      when(divider.io.rsp.valid) {
        io.response.valid := True
        goto(idle)
      }
    }
  }

  when(adds) {
    val sumNext = sum + (counts ? entry | U(0, entryBits bits)).resize(24)
    val onesNext = ones + U(counts)
    sum := sumNext
    ones := onesNext
    when(position === 4)(newest4 := sumNext.resized)
    when(position === 16) {
      newest16 := sumNext
      weighted := (sumNext << 4).resize(29) + sumNext.resize(29)
      weights := (onesNext << 4).resize(9) + onesNext.resize(9)
      sum := 0
      ones := 0
    }
    when(position > 16) {
      weighted := weighted + sumNext.resize(29)
      weights := weights + onesNext.resize(9)
    }
  }

  private val response = LossIntervalsResponse()
  response.mean := quotient.resized
  response.newest := newest16 @@ U(0, 4 bits)
  response.fallen := (newest4 @@ U(0, 7 bits)) < quotient.resize(29)
  io.response.payload := response.asBits
}
