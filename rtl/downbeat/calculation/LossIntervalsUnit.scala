// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{CalculatorRequest, CalculatorUnit, EngineSizes}
import downbeat.lib.ecc.StateMemory
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._
import spinal.lib.math.UnsignedDivider

/** The unit of [[LossIntervals]]: one request at a time, one interval of the history a clock. */
class LossIntervalsUnit(config: EngineSizes) extends CalculatorUnit(config, LossIntervals) {
  import LossIntervals._

  private val taken = Reg(CalculatorRequest(config, requestBits))
  private val request = taken.operands.as(LossIntervalsRequest())
  private val divider = new UnsignedDivider(nWidth = 37, dWidth = 16, storeDenominator = true)
  private val history = StateMemory(config.ecc, UInt(entryBits bits), config.flows * entries)
  history.addAttribute("no_rw_check") // written in a state of its own

  /** The sum of the newest so far; and the weighted sum. */
  private val sum = Reg(UInt(25 bits))
  private val weighted = Reg(UInt(29 bits))
  /** Both sums of ones in place of intervals, which give the sum of weights. */
  private val ones = Reg(UInt(6 bits))
  private val weights = Reg(UInt(9 bits))
  private val half = request.history >> 1
  private val newestSum = Reg(UInt(24 bits))
  private val newest4 = Reg(UInt(22 bits))
  private val mean, newest = Reg(UInt(28 bits))
  /** 100 |mean - before| and variance before, from the factors' top bits on. */
  private val difference = RegNext((request.before < mean) ? (mean - request.before) | (request.before - mean))
  private val change, allowed = Reg(UInt(35 bits))
  private val index = Reg(UInt(6 bits))

  private val quotient = divider.io.rsp.quotient
  private val interval = Reg(UInt(entryBits bits))
  private val writes, reads, adds = False
  history.write(taken.flow @@ request.place, interval, writes)
  // A register behind the memory, because a block RAM takes half a clock.
  private val entry = RegNext(history.readSync(taken.flow @@ (request.place - index.resize(5)), reads))
  /** The entry's place in the history, 1 for the newest, and whether it counts. */
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
    val countPackets, awaitPackets, store, scan, divide, awaitMean, divideNewest, awaitNewest, judge, respond =
      new State

    idle.whenIsActive {
      io.request.ready := True
      taken := io.request.payload
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
      when(index === request.history + 1)(goto(divide))
    }
    divide.whenIsActive {
      divider.io.cmd.valid := True
      divider.io.cmd.numerator := weighted @@ U(0, 8 bits)
      divider.io.cmd.denominator := weights.resized
      when(divider.io.cmd.ready)(goto(awaitMean))
    }
    awaitMean.whenIsActive {
      when(divider.io.rsp.valid) {
        mean := quotient.resized
        goto(divideNewest)
      }
    }
    divideNewest.whenIsActive {
      divider.io.cmd.valid := True
      divider.io.cmd.numerator := (newestSum @@ U(0, 8 bits)).resized
      divider.io.cmd.denominator := half.resized
      change := 0
      allowed := 0
      index := 0
      when(divider.io.cmd.ready)(goto(awaitNewest))
    }
    awaitNewest.whenIsActive {
      when(divider.io.rsp.valid) {
        newest := quotient.resized
        goto(judge)
      }
    }
    // A bit of both factors in each clock.
    judge.whenIsActive {
      val bit = U(6, 3 bits) - index.resize(3)
      change := (change |<< 1) + (U(100, 7 bits)(bit) ? difference | U(0, 28 bits)).resize(35)
      allowed := (allowed |<< 1) + (request.variance(bit) ? request.before | U(0, 28 bits)).resize(35)
      index := index + 1
      when(index === 6)(goto(respond))
    }
    respond.whenIsActive {
      io.response.valid := True
      goto(idle)
    }
  }

  when(adds) {
    val sumNext = sum + (counts ? entry | U(0, entryBits bits)).resize(25)
    val onesNext = ones + U(counts)
    sum := sumNext
    ones := onesNext
    when(position === 4)(newest4 := sumNext.resized)
    when(position === half)(newestSum := sumNext.resized)
    when(position >= half) {
      weighted := weighted + sumNext.resize(29)
      weights := weights + onesNext.resize(9)
    }
  }

  private val response = LossIntervalsResponse()
  response.mean := mean
  response.newest := newest
  response.fallen := (newest4 @@ U(0, 7 bits)) < mean.resize(29)
  response.moved := change > allowed
  io.response.payload := response.asBits
}
