// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{CalculatorUnit, EngineSizes}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** The unit of [[GapFit]]: one request at a time, with one product or quotient at a time. */
class GapFitUnit(config: EngineSizes) extends CalculatorUnit(config, GapFit) {
  import GapFit._
  private val taken = Reg(GapFitRequest())
  private val flow = Reg(UInt(config.flowBits bits))
  /** The class of input gaps. */
  private val index = Reg(UInt(2 bits))
  /** The sample counts. */
  private val counted = Reg(Bool())
  private val sums = new GapSumsMemory(config, flow @@ index)
  private val estimate = new GapEstimate(taken.firstGap)
  private val arithmetic = new ArithmeticSteps
  import arithmetic.{product, quotient, result}
  import estimate.{bounded, d, e, gap, total}
  import sums.{row, writes, written}

  private val response = GapFitResponse()
  response.value := (result(63 downto 36).orR ? U((BigInt(1) << 36) - 1, 36 bits) | result.resize(36))
  response.holds := counted
  io.response.valid := False
  io.response.payload := response.asBits
  io.request.ready := False

  private val steps: StateMachine = new StateMachine {
    val rest, scale, clear, classify, read0, read1, limit, square, mixed, store, spread, space = new State
    val fetch0, fetch1, mean, dPlus, dMinus, ePlus, eMinus, weigh, shift, lift, meet, add, average, compare, bound,
        share, window, none = new State
    val judge = new StateDelay(4)
    setEncoding(binaryOneHot)
    setEntry(rest)

    rest.whenIsActive {
      io.request.ready := True
      taken.assignFromBits(io.request.operands)
      flow := io.request.flow
      index := 0
      counted := False
      total.assignFromBits(B(0, widthOf(total) bits))
      when(io.request.valid)(goto(scale))
    }
    scale.whenIsActive {
      when((taken.firstGap >> firstBits).orR) {
        for (value <- Seq(taken.firstGap, taken.departureGap, taken.arrivalGap)) value := value |>> 1
        when(taken.estimates)(taken.roundTrip := taken.roundTrip |>> 1)
      } otherwise {
        when(taken.estimates)(goto(fetch0)) elsewhen taken.begins(goto(clear)) elsewhen taken.sampled(
          goto(classify)) otherwise goto(spread)
      }
    }
    clear.whenIsActive {
      written.assignFromBits(B(0, widthOf(row) bits))
      writes := True
      index := index + 1
      when(index.andR) {
        when(taken.sampled)(goto(classify)) otherwise goto(spread)
      }
    }

    // ---- a sample

    classify.whenIsActive(quotient(taken.departureGap << 5, taken.firstGap) {
      goto(spread)
      val (ratio, beyond) = (result.resize(8), (result >> 8).orR)
      for (((from, below), number) <- classes.zipWithIndex) when(!beyond && !(ratio < from) && ratio < below) {
        index := number
        goto(read0)
      }
    })
    read0.whenIsActive {
      when((taken.arrivalGap >> sampleBits).orR)(taken.arrivalGap := (1 << sampleBits) - 1)
      goto(read1)
    }
    read1.whenIsActive {
      row := sums.read
      goto(limit)
    }
    limit.whenIsActive(when(row.count === maxSamples)(goto(spread)) otherwise goto(square))
    square.whenIsActive(product(taken.departureGap, taken.departureGap(sampleBits - 1 downto 0)) {
      row.xx := row.xx + result.resized
      goto(mixed)
    })
    mixed.whenIsActive(product(taken.departureGap, taken.arrivalGap(sampleBits - 1 downto 0)) {
      row.xy := row.xy + result.resized
      row.x := row.x + taken.departureGap.resized
      row.y := row.y + taken.arrivalGap.resized
      row.count := row.count + 1
      goto(store)
    })
    store.whenIsActive {
      writes := True
      counted := True
      goto(spread)
    }
    spread.whenIsActive(product(taken.roundTrip << 1, taken.segmentSize) {
      d := result.asSInt
      goto(space)
    })
    space.whenIsActive(quotient(d.asUInt, taken.cwnd) {
      io.response.valid := True
      goto(rest)
    })

    // ---- the estimate

    fetch0.whenIsActive(goto(fetch1))
    fetch1.whenIsActive {
      row := sums.read
      goto(judge)
    }
    judge.whenCompleted {
      total.add(row)
      index := index + 1
      bounded := sums.within
      gap := taken.firstGap.resized
      when(sums.within && index === 0)(goto(share)) elsewhen sums.within(goto(mean)) elsewhen index.andR(
        goto(dPlus)) otherwise goto(fetch0)
    }
    mean.whenIsActive(quotient(row.x, row.count) {
      gap := result.resized
      goto(dPlus)
    })
    dPlus.whenIsActive(product(total.xx, total.count) {
      d := result.asSInt
      goto(dMinus)
    })
    dMinus.whenIsActive(product(total.x, total.x) {
      d := d - result.asSInt
      goto(ePlus)
    })
    ePlus.whenIsActive(product(total.x, total.y) {
      e := d + result.asSInt
      goto(eMinus)
    })
    eMinus.whenIsActive(product(total.xy, total.count) {
      e := e - result.asSInt
      goto(weigh)
    })
    weigh.whenIsActive(goto(shift)) // `large` and `apart` are of the clock before
    shift.whenIsActive {
      when(estimate.apart)(goto(none)) elsewhen estimate.large {
        d := d |>> 1
        e := e |>> 1
        goto(weigh)
      } otherwise goto(lift)
    }
    lift.whenIsActive(product(d.asUInt, estimate.excess.abs) {
      d := result.asSInt
      goto(meet)
    })
    meet.whenIsActive(quotient(d.asUInt, e.asUInt) {
      d := result.asSInt
      goto(add)
    })
    add.whenIsActive {
      d := total.x.resize(64).asSInt + (estimate.excess.msb ? -d | d)
      goto(average)
    }
    average.whenIsActive {
      when(d.msb)(goto(compare)) otherwise quotient(d.asUInt, total.count) {
        d := result.asSInt
        goto(compare)
      }
    }
    compare.whenIsActive(goto(bound))
    // A gap below the first is impossible.
    bound.whenIsActive {
      when(estimate.tooShort) {
        gap := taken.firstGap.resized
      } elsewhen (!bounded || estimate.shorter) {
        gap := d.asUInt.resized
        when((d >> gap.getWidth).orR)(gap.setAll())
      }
      goto(share)
    }
    share.whenIsActive(quotient(taken.roundTrip, gap) {
      d := result.asSInt
      goto(window)
    })
    window.whenIsActive(product(taken.segmentSize, d.asUInt.resize(SerialArithmetic.shortBits)) {
      response.value := GapWindow.bounded(result).resized
      response.holds := True
      io.response.valid := True
      goto(rest)
    })
    none.whenIsActive {
      response.value := 0
      response.holds := False
      io.response.valid := True
      goto(rest)
    }
  }
}
