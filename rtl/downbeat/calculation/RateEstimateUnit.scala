// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{CalculatorUnit, EngineSizes, RateWindows}
import downbeat.lib.ecc.StateMemory
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** The unit of [[RateEstimate]]: one ACK at a time, with one product or quotient at a time. */
class RateEstimateUnit(config: EngineSizes) extends CalculatorUnit(config, RateEstimate) {
  import RateEstimate._

  private val taken = Reg(RateEstimateRequest())
  private val flow = Reg(UInt(config.flowBits bits))
  private val memory = StateMemory(config.ecc, RateMemory(), config.flows)
  memory.addAttribute("no_rw_check") // written in a state of its own
  private val kept = Reg(RateMemory())
  private val writes = False
  memory.write(flow, kept, writes)
  private val read = RegNext(memory.readSync(flow))

  // ---- the filter

  private val filtered = Reg(FilteredRate())
  private val filterAcked = Reg(UInt(32 bits))
  private val filterTime = Reg(UInt(48 bits))
  private val stepAcked = Reg(UInt(32 bits))
  private val stepTime = Reg(UInt(29 bits))
  private val silent, pauses, again, isLong = Reg(Bool())
  private val total, numerator = Reg(UInt(64 bits))
  /** The filter is ERE's; its interval ends with this ACK. */
  private val ofEre, ends = Reg(Bool())

  // ---- intervals

  private val elapsed, wholeElapsed = Reg(UInt(48 bits))
  private val wholeLate, sampleLate = Reg(SInt(49 bits))
  private val wholeDue, sampleDue, wholeFirst = Reg(Bool())
  private val left = Reg(SInt(33 bits))
  private val sampleSum = Reg(UInt(32 bits))
  private val windows = Reg(RateWindows())

  // ---- the sum that slides

  private val slots = StateMemory(config.ecc, UInt(32 bits), config.flows * RateEstimate.slots)
  slots.addAttribute("no_rw_check") // written in states of its own
  private val slotRead, slotWrites = False
  private val slotAddress = UInt(4 bits)
  slotAddress := kept.slot
  private val slotData = UInt(32 bits)
  slotData := 0
  slots.write(flow @@ slotAddress, slotData, slotWrites)
  private val slotEntry = RegNext(slots.readSync(flow @@ slotAddress, slotRead))
  private val slotLength = RegNext((U(1, 29 bits) |<< kept.slotBits).resize(29))
  private val slotAge = Reg(UInt(48 bits))
  private val place = Reg(UInt(5 bits))
  /** The sum over T_k and how long that is: the newest slots of `target` ns or more. */
  private val slidingSum, period, target, age = Reg(UInt(32 bits))
  private val enough, ofWhole, ofSliding = Reg(Bool())
  /** Since the ACK before: ns, 2^32 - 1 at most, and bytes. */
  private val gap, gapAcked = Reg(UInt(32 bits))
  private val twoTau = Reg(UInt(32 bits))

  /** Begins to add slots up, from the newest on. */
  private def gather(wanted: UInt): Unit = {
    target := wanted
    slidingSum := 0
    age := slotAge.resized
    enough := False
    place := 0
  }

  private val arithmetic = new FastArithmeticSteps
  import arithmetic.{product, quotient, result}

  io.response.valid := False
  io.response.payload := windows.asBits
  io.request.ready := False

  /** ns from an instant to the ACK; zero where the instant is later. */
  private def since(before: UInt): UInt = {
    val difference = taken.time - before
    difference.msb ? U(0, 48 bits) | difference
  }

  private val steps: StateMachine = new StateMachine {
    val rest, wait1, wait2, take, bandwidth, limit, shorten, weighRate, weighLast, weighAcked, divideRate, divideSample,
        keep, eligible, measure, compare, order, choose, weighAchieved, divideAchieved, interval, weighInterval,
        divideInterval, count, last, slide, clear, advance, add, addWait, addWrite, walk, weighRound, divideRound,
        compareRound, weighSpan, divideSpan, chooseSpan, weighStep, divideStep, weighBwe, divideBwe, weighEre,
        divideEre, weighSliding, divideSliding, store = new State
    setEncoding(binaryOneHot)
    setEntry(rest)

    rest.whenIsActive {
      io.request.ready := True
      taken.assignFromBits(io.request.operands)
      flow := io.request.flow
      when(io.request.valid)(goto(wait1))
    }
    wait1.whenIsActive(goto(wait2))
    wait2.whenIsActive(goto(take))
    take.whenIsActive {
      kept := read
      when(taken.begins)(kept.begin(taken.time))
      twoTau := 2 * second
      ofSliding := False
      goto(bandwidth)
    }

    // ---- BWE: a sample with each ACK

    bandwidth.whenIsActive {
      val time = since(kept.time)
      filtered := kept.bwe
      filterAcked := kept.held + taken.acked
      filterTime := time
      ofEre := False
      gap := (time >> 32).orR ? U(32 bits, default -> True) | time.resize(32)
      gapAcked := kept.held + taken.acked
      when(time.orR) {
        kept.time := taken.time
        kept.held := 0
        goto(limit)
      } otherwise {
        kept.held := kept.held + taken.acked
        goto(eligible)
      }
    }

    // ---- the filter, with samples of zero for a pause

    limit.whenIsActive {
      silent := filterTime > silence
      pauses := !(filterTime < longest + shortestRest)
      isLong := filterTime > longest
      goto(shorten)
    }
    shorten.whenIsActive {
      again := pauses && !silent
      stepAcked := filterAcked
      stepTime := filterTime.resized
      when(isLong)(stepTime := U(longest, 29 bits))
      when(silent) {
        filtered.rate := 0
        filtered.last := 0
      } elsewhen pauses {
        stepAcked := 0
        filterTime := filterTime - longest
      }
      goto(weighRate)
    }
    weighRate.whenIsActive(product(filtered.rate, twoTau - stepTime) {
      total := result
      goto(weighLast)
    })
    weighLast.whenIsActive(product(filtered.last, stepTime) {
      total := total + result
      goto(weighAcked)
    })
    weighAcked.whenIsActive(product(stepAcked, U(second, 30 bits)) {
      total := total + result
      numerator := result
      goto(divideRate)
    })
    divideRate.whenIsActive(quotient(total, twoTau + stepTime) {
      filtered.rate := result.resized
      goto(divideSample)
    })
    divideSample.whenIsActive(quotient(numerator, stepTime) {
      filtered.last := result.resized
      when(again)(goto(limit)) otherwise goto(keep)
    })
    keep.whenIsActive {
      when(ofSliding) {
        kept.sliding := filtered
        goto(weighBwe)
      } elsewhen ofEre {
        kept.ere := filtered
        goto(interval)
      } otherwise {
        kept.bwe := filtered
        goto(eligible)
      }
    }

    // ---- ERE: the intervals that are over

    eligible.whenIsActive {
      ends := False
      windows.bwe := 0
      windows.ere := 0
      windows.sliding := 0
      when(!kept.started) {
        kept.started := taken.rtt.orR
        kept.wholeStart := taken.time
        kept.sampleStart := taken.time
        kept.wholeLength := taken.rtt
        kept.sampleLength := taken.rtt
      }
      when(taken.rtt.orR)(goto(measure)) otherwise goto(store)
    }
    measure.whenIsActive {
      wholeElapsed := since(kept.wholeStart)
      elapsed := since(kept.sampleStart)
      goto(compare)
    }
    compare.whenIsActive {
      wholeLate := wholeElapsed.resize(49).asSInt - kept.wholeLength.resize(49).asSInt
      sampleLate := elapsed.resize(49).asSInt - kept.sampleLength.resize(49).asSInt
      goto(order)
    }
    order.whenIsActive {
      wholeDue := !wholeLate.msb
      sampleDue := kept.sampleLength.orR && !sampleLate.msb
      wholeFirst := !(wholeLate < sampleLate)
      sampleSum := kept.sampleAcked + taken.acked
      silent := !(kept.sampleAcked.orR || kept.achieved.orR || kept.ere.last.orR)
      goto(choose)
    }
    choose.whenIsActive {
      filtered := kept.ere
      filterAcked := kept.sampleAcked
      filterTime := silent ? elapsed | kept.sampleLength.resize(48)
      ofEre := True
      when(wholeDue && (wholeFirst || !sampleDue))(goto(weighAchieved)) elsewhen sampleDue {
        kept.sampleStart := silent ? taken.time | kept.sampleStart + kept.sampleLength
        kept.sampleAcked := 0
        goto(limit)
      } otherwise goto(count)
    }
    weighAchieved.whenIsActive(product(kept.wholeAcked, taken.rttMinimum) {
      numerator := result
      goto(divideAchieved)
    })
    divideAchieved.whenIsActive(quotient(numerator, kept.wholeLength) {
      kept.achieved := result.resized
      // Nothing came in it, so nothing came since.
      kept.wholeStart := kept.wholeAcked.orR ? (kept.wholeStart + kept.wholeLength) | taken.time
      kept.wholeLength := taken.rtt
      kept.wholeAcked := 0
      goto(measure)
    })

    // ---- T_k

    interval.whenIsActive {
      left := taken.cwnd.resize(33).asSInt - kept.achieved.resize(33).asSInt
      goto(weighInterval)
    }
    weighInterval.whenIsActive {
      when(left.msb || !left.orR) {
        kept.sampleLength := 0
        goto(last)
      } otherwise product(taken.rtt, left.asUInt.resize(32)) {
        numerator := result
        goto(divideInterval)
      }
    }
    divideInterval.whenIsActive(quotient(numerator, taken.cwnd) {
      val longer = (taken.rtt < kept.wholeLength) ? kept.wholeLength | taken.rtt
      val shortest = (longer >> 4).resize(32)
      kept.sampleLength := (result(31 downto 0) < shortest) ? shortest | result(31 downto 0)
      goto(last)
    })
    last.whenIsActive(when(ends)(goto(slide)) otherwise goto(measure))

    // ---- the ACK itself

    count.whenIsActive {
      kept.wholeAcked := kept.wholeAcked + taken.acked
      kept.sampleAcked := sampleSum
      filterAcked := sampleSum
      filterTime := elapsed
      ends := True
      when(!kept.sampleLength.orR && elapsed.orR) {
        kept.sampleStart := taken.time
        kept.sampleAcked := 0
        goto(limit)
      } otherwise goto(slide)
    }

    // ---- ERE of the slides: the slots

    slide.whenIsActive {
      place := 0
      slotAge := since(kept.slotStart)
      ofSliding := True
      twoTau := (taken.rtt < second) ? (taken.rtt << 1).resize(32) | U(2 * second, 32 bits)
      when(kept.slides)(goto(advance)) otherwise {
        kept.slides := True
        kept.slotStart := taken.time
        slotAge := 0
        kept.slotBits := OHToUInt(OHMasking.last(taken.rtt >> 3)).resize(5)
        goto(clear)
      }
    }
    clear.whenIsActive {
      slotWrites := True
      slotAddress := place.resized
      place := place + 1
      when(place === RateEstimate.slots - 1)(goto(add))
    }
    advance.whenIsActive {
      when(slotAge < slotLength.resize(48))(goto(add)) elsewhen place(4) {
        // No slot has anything.
        kept.slotStart := taken.time
        slotAge := 0
        goto(add)
      } otherwise {
        slotWrites := True
        slotAddress := kept.slot + 1
        kept.slot := kept.slot + 1
        kept.slotStart := kept.slotStart + slotLength
        slotAge := slotAge - slotLength
        place := place + 1
      }
    }
    add.whenIsActive {
      slotRead := True
      goto(addWait)
    }
    addWait.whenIsActive(goto(addWrite))
    addWrite.whenIsActive {
      slotWrites := True
      slotData := slotEntry +| taken.acked
      ofWhole := True
      gather(taken.rtt)
      when(gap.orR)(goto(walk)) otherwise goto(weighBwe)
    }
    walk.whenIsActive {
      slotRead := True
      slotAddress := kept.slot - place.resize(4)
      place := place + 1
      when(place > 1 && !enough) {
        slidingSum := slidingSum +| slotEntry
        period := age
        enough := !(age < target)
        age := age + slotLength
      }
      when(enough || place === RateEstimate.slots + 1) {
        when(ofWhole)(goto(weighRound)) otherwise goto(weighStep)
      }
    }

    // ---- RE of the last R, T_k, and the sample

    weighRound.whenIsActive(product(slidingSum, taken.rttMinimum) {
      numerator := result
      goto(divideRound)
    })
    divideRound.whenIsActive(quotient(numerator, period) {
      left := taken.cwnd.resize(33).asSInt - result(31 downto 0).resize(33).asSInt
      goto(compareRound)
    })
    compareRound.whenIsActive {
      target := 0
      when(left.msb || !left.orR)(goto(chooseSpan)) otherwise goto(weighSpan)
    }
    weighSpan.whenIsActive(product(taken.rtt, left.asUInt.resize(32)) {
      numerator := result
      goto(divideSpan)
    })
    divideSpan.whenIsActive(quotient(numerator, taken.cwnd) {
      target := result.resized
      goto(chooseSpan)
    })
    chooseSpan.whenIsActive {
      val half = ((twoTau >> 3).orR ? (twoTau >> 2) | U(1, 30 bits)).resize(32)
      stepTime := ((gap < half) ? gap | half).resized
      ofWhole := False
      gather(target)
      when(gap < target)(goto(walk)) otherwise {
        slidingSum := gapAcked
        period := gap
        goto(weighStep)
      }
    }
    weighStep.whenIsActive(product(slidingSum, stepTime) {
      numerator := result
      goto(divideStep)
    })
    divideStep.whenIsActive(quotient(numerator, period) {
      stepAcked := result.resized
      filtered := kept.sliding
      again := False
      goto(weighRate)
    })

    // ---- the response

    weighBwe.whenIsActive(product(kept.bwe.rate, taken.rttMinimum) {
      numerator := result
      goto(divideBwe)
    })
    divideBwe.whenIsActive(quotient(numerator, U(second, 30 bits)) {
      windows.bwe := result.resized
      goto(weighEre)
    })
    weighEre.whenIsActive(product(kept.ere.rate, taken.rttMinimum) {
      numerator := result
      goto(divideEre)
    })
    divideEre.whenIsActive(quotient(numerator, U(second, 30 bits)) {
      windows.ere := result.resized
      goto(weighSliding)
    })
    weighSliding.whenIsActive(product(kept.sliding.rate, taken.rttMinimum) {
      numerator := result
      goto(divideSliding)
    })
    divideSliding.whenIsActive(quotient(numerator, U(second, 30 bits)) {
      windows.sliding := result.resized
      goto(store)
    })
    store.whenIsActive {
      writes := True
      io.response.valid := True
      goto(rest)
    }
  }
}
