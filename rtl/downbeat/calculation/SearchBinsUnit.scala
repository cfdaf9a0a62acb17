// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{CalculatorUnit, EngineSizes}
import downbeat.lib.ecc.StateMemory
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** The unit of [[SearchBins]]: one request at a time, with one product or quotient at a time. */
class SearchBinsUnit(config: EngineSizes) extends CalculatorUnit(config, SearchBins) {
  import SearchBins._

  private case class Bin() extends Bundle {
    val acked, sent = UInt(24 bits)
  }

  private val taken = Reg(SearchBinsRequest())
  private val flow = Reg(UInt(config.flowBits bits))
  private val memory = StateMemory(config.ecc, Bin(), config.flows * bins)
  memory.addAttribute("no_rw_check") // written in states of their own
  private val place = Reg(UInt(log2Up(bins) bits))
  private val writes = False
  private val written = Bin()
  memory.write(flow @@ place, written, writes)
  /** Values of the place of two clocks before. */
  private val read = RegNext(memory.readSync(flow @@ place))

  private val duration = Reg(UInt(36 bits))
  private val step = Reg(UInt(40 bits))
  private val passed = Reg(UInt(4 bits))
  /** Bins back from the newest. */
  private val back = Reg(UInt(4 bits))
  private val fraction = Reg(UInt(9 bits))
  private val numerator = Reg(UInt(SerialArithmetic.bits bits))
  private val former = Reg(Bin())
  /** The word that is read: 0 the bin before; acked[i - 10]; sent[i], [i - 1] ...; sent[p], [p - 10], [p - 1],
    * [p - 11].
    */
  private val turn = Reg(UInt(3 bits))
  private val delivered, above, span, high, low = Reg(UInt(24 bits))
  private val sent = Reg(UInt(33 bits))
  private val exits = Reg(Bool())
  private val arithmetic = new ArithmeticSteps
  import arithmetic.{product, quotient, result}

  private val newest = Bin()
  newest.acked := taken.acked
  newest.sent := taken.sent
  written := newest

  private val response = SearchBinsResponse()
  response.step := step
  response.index := taken.index
  response.exits := exits
  response.restarts := False
  io.response.valid := False
  io.response.payload := response.asBits
  io.request.ready := False

  private val steps: StateMachine = new StateMachine {
    val rest, scale, length, count, restart, seek, wait1, wait2, take, fill, store, part, weighLow, weighHigh, lift,
        judge, respond = new State
    setEncoding(binaryOneHot)
    setEntry(rest)

    rest.whenIsActive {
      io.request.ready := True
      taken.assignFromBits(io.request.operands)
      flow := io.request.flow
      exits := False
      turn := 0
      when(io.request.valid)(goto(scale))
    }
    scale.whenIsActive(product(taken.initial, U(35)) {
      numerator := result
      goto(length)
    })
    length.whenIsActive(quotient(numerator, U(100)) {
      duration := result.resized
      step := result.resized
      place := taken.index.resized
      passed := 1
      when(taken.begins) {
        taken.index := 0
        place := 0
        goto(store)
      } otherwise goto(count)
    })
    count.whenIsActive(quotient(taken.late, duration) {
      passed := result.resize(4) + 1
      when(result < window)(goto(wait1)) otherwise goto(restart)
    })
    restart.whenIsActive {
      response.restarts := True
      io.response.valid := True
      goto(rest)
    }

    // ---- bins that passed without an ACK, and the one that is over

    wait1.whenIsActive(goto(wait2))
    wait2.whenIsActive(goto(take))
    take.whenIsActive {
      switch(turn) {
        is(0) {
          former := read
          place := place + 1
          goto(fill)
        }
        is(1)(delivered := taken.acked - read.acked)
        is(2)(above := read.sent)
        is(3)(high := read.sent)
        is(4)(high := high - read.sent)
        is(5)(low := read.sent)
        default(low := low - read.sent)
      }
      val ahead = read.sent - taken.acked
      when(turn === 2) {
        span := above - read.sent
        numerator := ((above - taken.acked) << 8).resized
        val compares = back.orR && back.resize(6) + window < taken.index.resize(7) + 1
        when(!ahead.msb && ahead.orR) {
          back := back + 1
          when(back === maxBins)(goto(respond)) otherwise goto(seek)
        } otherwise {
          when(compares)(goto(part)) otherwise goto(respond)
        }
      } elsewhen (turn =/= 0) {
        turn := turn + 1
        when(turn === 6)(goto(weighLow)) otherwise goto(seek)
      }
    }
    fill.whenIsActive {
      written := former
      val next = (taken.index.resize(7) + 1)
      taken.index := next.msb ? (next - 32).resize(6) | next.resize(6)
      passed := passed - 1
      when(passed === 1)(goto(store)) otherwise {
        writes := True
        place := place + 1
        step := step + duration
      }
    }
    store.whenIsActive {
      writes := True
      turn := 1
      back := 0
      when(taken.begins)(goto(respond)) otherwise goto(seek)
    }

    // ---- the comparison

    // Data that is acknowledged now was sent when `sent` was what `acked` is.
    part.whenIsActive(quotient(numerator, span) {
      fraction := result.resized
      turn := 3
      goto(seek)
    })
    seek.whenIsActive {
      val now = taken.index.resize(5)
      val before = now - back.resize(5) + 1
      switch(turn) {
        is(1)(place := now - window)
        is(2)(place := now - back.resize(5))
        is(3)(place := before)
        is(4)(place := before - window)
        is(5)(place := before - 1)
        default(place := before - window - 1)
      }
      goto(wait1)
    }
    weighLow.whenIsActive(product(low, fraction) {
      sent := result.resized
      goto(weighHigh)
    })
    weighHigh.whenIsActive(product(high, U(256, 9 bits) - fraction) {
      sent := sent + result.resize(33)
      goto(lift)
    })
    lift.whenIsActive(product(sent, U(37)) {
      numerator := result
      goto(judge)
    })
    judge.whenIsActive(product(delivered << 8, U(50)) {
      exits := sent.orR && !(numerator < result)
      goto(respond)
    })
    respond.whenIsActive {
      io.response.valid := True
      goto(rest)
    }
  }
}
