// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{CalculatorUnit, EngineSizes}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** The unit of [[GapFit]]: one request at a time, with one product or quotient at a time. */
class GapFitUnit(config: EngineSizes) extends CalculatorUnit(config, GapFit) {
  import GapFit._
  private val sums = Mem(GapSums(), config.flows * classes.size)
  sums.addAttribute("no_rw_check") // written in states of their own
  private val asked = Reg(GapFitRequest())
  private val flow = Reg(UInt(config.flowBits bits))
  private val row = Reg(GapSums())
  private val total = Reg(GapSums(extra = 2))
  private val index = Reg(UInt(2 bits)) // of a class
  private val counted = Reg(Bool())
  private val d, e = Reg(SInt(64 bits))
  private val gap = Reg(UInt(SerialArithmetic.shortBits bits)) // the estimate, and before it d0
  private val bounded = Reg(Bool())
  private val arithmetic = new ArithmeticSteps
  import arithmetic.{product, quotient, result}

  private val address = flow @@ index
  private val read = sums.readSync(address)
  private val written = CombInit(row)
  private val writes = False
  sums.write(address, written, writes)

  // y <= 1.05 x in three clocks.
  private val beyond = RegNext(row.y.resize(28).asSInt - row.x.resize(28).asSInt)
  private val twenty = RegNext((beyond.resize(33) |<< 4) + (beyond.resize(33) |<< 2))
  private val within = RegNext(!(row.x.resize(33).asSInt < twenty) && row.count.orR)

  private val excess = RegNext(total.y.resize(30).asSInt - total.x.resize(30).asSInt)

  // Of d when it was the same the clock before.
  private val tooShort = RegNext(d < asked.firstGap.resize(64).asSInt)
  private val shorter = RegNext(d < gap.resize(64).asSInt)
  private val large = RegNext(d(63 downto 32).orR)
  // Of e likewise: the fitted line does not meet y = x.
  private val apart = RegNext(e.msb || !e.orR)

  private val response = GapFitResponse()
  response.value := (result(63 downto 36).orR ? U((BigInt(1) << 36) - 1, 36 bits) | result.resize(36))
  response.holds := counted
  io.response.valid := False
  io.response.payload := response.asBits
  io.request.ready := False

  private val steps: StateMachine = new StateMachine {
    val rest, scale, clear, classify, read0, read1, limit, square, mixed, store, spread, space = new State
    val fetch0, fetch1, mean, dPlus, dMinus, ePlus, eMinus, weigh, shift, lift, meet, add, average, compare, bound, share, window, none = new State
    val judge = new StateDelay(4)
    setEncoding(binaryOneHot)
    setEntry(rest)

    rest.whenIsActive {
      io.request.ready := True
      asked.assignFromBits(io.request.operands)
      flow := io.request.flow
      index := 0
      counted := False
      total.assignFromBits(B(0, widthOf(total) bits))
      when(io.request.valid)(goto(scale))
    }
    scale.whenIsActive {
      when((asked.firstGap >> firstBits).orR) {
        for (value <- Seq(asked.firstGap, asked.departureGap, asked.arrivalGap)) value := value |>> 1
        when(asked.estimates)(asked.roundTrip := asked.roundTrip |>> 1)
      } otherwise {
        when(asked.estimates)(goto(fetch0)) elsewhen asked.begins(goto(clear)) elsewhen asked.sampled(goto(classify)) otherwise goto(spread)
      }
    }
    clear.whenIsActive {
      written.assignFromBits(B(0, widthOf(row) bits))
      writes := True
      index := index + 1
      when(index.andR) {
        when(asked.sampled)(goto(classify)) otherwise goto(spread)
      }
    }

    // ---- a sample

    classify.whenIsActive(quotient(asked.departureGap << 5, asked.firstGap) {
      goto(spread)
      for (((from, below), number) <- classes.zipWithIndex) when(!(result < from) && result < below) {
        index := number
        goto(read0)
      }
    })
    read0.whenIsActive {
      when((asked.arrivalGap >> sampleBits).orR)(asked.arrivalGap := (1 << sampleBits) - 1)
      goto(read1)
    }
    read1.whenIsActive {
      row := read
      goto(limit)
    }
    limit.whenIsActive(when(row.count === mostSamples)(goto(spread)) otherwise goto(square))
    square.whenIsActive(product(asked.departureGap, asked.departureGap(sampleBits - 1 downto 0)) {
      row.xx := row.xx + result.resized
      goto(mixed)
    })
    mixed.whenIsActive(product(asked.departureGap, asked.arrivalGap(sampleBits - 1 downto 0)) {
      row.xy := row.xy + result.resized
      row.x := row.x + asked.departureGap.resized
      row.y := row.y + asked.arrivalGap.resized
      row.count := row.count + 1
      goto(store)
    })
    store.whenIsActive {
      writes := True
      counted := True
      goto(spread)
    }
    spread.whenIsActive(product(asked.roundTrip << 1, asked.segmentSize) {
      d := result.asSInt
      goto(space)
    })
    space.whenIsActive(quotient(d.asUInt, asked.cwnd) {
      io.response.valid := True
      goto(rest)
    })

    // ---- the estimate

    fetch0.whenIsActive(goto(fetch1))
    fetch1.whenIsActive {
      row := read
      goto(judge)
    }
    judge.whenCompleted {
      total.add(row)
      index := index + 1
      bounded := within
      gap := asked.firstGap.resized
      when(within && index === 0)(goto(share)) elsewhen within(goto(mean)) elsewhen index.andR(goto(dPlus)) otherwise goto(fetch0)
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
      when(apart)(goto(none)) elsewhen large {
        d := d |>> 1
        e := e |>> 1
        goto(weigh)
      } otherwise goto(lift)
    }
    lift.whenIsActive(product(d.asUInt, excess.abs) {
      d := result.asSInt
      goto(meet)
    })
    meet.whenIsActive(quotient(d.asUInt, e.asUInt) {
      d := result.asSInt
      goto(add)
    })
    add.whenIsActive {
      d := total.x.resize(64).asSInt + (excess.msb ? -d | d)
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
      when(tooShort) {
        gap := asked.firstGap.resized
      } elsewhen (!bounded || shorter) {
        gap := d.asUInt.resized
        when((d >> gap.getWidth).orR)(gap.setAll())
      }
      goto(share)
    }
    share.whenIsActive(quotient(asked.roundTrip, gap) {
      d := result.asSInt
      goto(window)
    })
    window.whenIsActive(product(asked.segmentSize, d.asUInt.resize(SerialArithmetic.shortBits)) {
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
