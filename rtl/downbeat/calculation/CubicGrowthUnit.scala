// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{CalculatorRequest, CalculatorUnit, EngineSizes}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._
import spinal.lib.math.UnsignedDivider

/** The unit of [[CubicGrowth]]: one request at a time, with one product, quotient or root at a time. */
class CubicGrowthUnit(config: EngineSizes) extends CalculatorUnit(config, CubicGrowth) {
  import CubicGrowth._

  private val taken = Reg(CalculatorRequest(config, requestBits))
  private val request = taken.operands.as(CubicRequest())
  private val multiplier = SerialMultiplier(leftBits = 50, rightBits = 40)
  private val divider = new UnsignedDivider(nWidth = 80, dWidth = 46, storeDenominator = true)
  private val cubeRoot = CubeRoot(rootBits)

  private val windowBytes = request.cwnd >> 16
  private val acked = Reg(UInt(18 bits))
  /** The second of two passes: W_cubic(t + RTT). */
  private val second = Reg(Bool())
  private val below = Reg(Bool())
  private val far = Reg(UInt(30 bits))
  private val square = Reg(UInt(40 bits))
  private val cube = Reg(UInt(50 bits))
  private val perSegment = Reg(UInt(40 bits))
  private val term61 = Reg(UInt(61 bits))
  /** t - K, and in the second pass t + RTT - K. */
  private val at = Reg(SInt(32 bits))
  /** W_cubic there, before and after its bounds. */
  private val height = Reg(SInt(63 bits))
  private val window = Reg(UInt(46 bits))
  /** W_cubic - cwnd. */
  private val toTarget = Reg(SInt(47 bits))
  private val now = Reg(UInt(46 bits))
  private val wEstAfter = Reg(UInt(47 bits))
  private val gain = Reg(UInt(45 bits))
  private val alphaSegment = Reg(UInt(33 bits))
  private val amount = Reg(UInt(80 bits))
  private val power = Reg(UInt(3 * rootBits bits))
  private val response = Reg(CubicResponse())

  multiplier.io.request.valid := False
  multiplier.io.request.left.assignDontCare()
  multiplier.io.request.right.assignDontCare()
  divider.io.flush := False
  divider.io.cmd.valid := False
  divider.io.cmd.numerator.assignDontCare()
  divider.io.cmd.denominator.assignDontCare()
  private val quotient = divider.io.rsp.toFlow.map(_.quotient)
  cubeRoot.io.value.valid := False
  cubeRoot.io.value.payload.assignDontCare()
  io.request.ready := False
  io.response.valid := False
  io.response.payload := response.asBits

  new StateMachine {
    setEncoding(binaryOneHot)
    /** Two states: `put` offers operands until they are taken, and `use` gets the result. */
    private def operate(put: => Bool)(result: Flow[UInt], after: => State)(use: UInt => Unit): State = {
      val issue, await = new State
      issue.whenIsActive(when(put)(goto(await)))
      await.whenIsActive {
        when(result.valid) {
          use(result.payload)
          goto(after)
        }
      }
      issue
    }
    private def multiply(left: => UInt, right: => UInt, after: => State)(use: UInt => Unit): State = operate {
      multiplier.io.request.valid := True
      multiplier.io.request.left := left.resized
      multiplier.io.request.right := right.resized
      multiplier.io.request.ready
    }(multiplier.io.product, after)(use)
    private def divide(numerator: => UInt, denominator: => UInt, after: => State)(use: UInt => Unit): State = operate {
      divider.io.cmd.valid := True
      divider.io.cmd.numerator := numerator.resized
      divider.io.cmd.denominator := denominator.resized
      divider.io.cmd.ready
    }(quotient, after)(use)
    private def root(value: => UInt, after: => State)(use: UInt => Unit): State = operate {
      cubeRoot.io.value.valid := True
      cubeRoot.io.value.payload := value
      cubeRoot.io.value.ready
    }(cubeRoot.io.root, after)(use)

    val idle = makeInstantEntry()
    val begin, place, measure, rise, bound, compare, settle, sum, friendly, respond = new State

    idle.whenIsActive {
      io.request.ready := True
      taken := io.request.payload
      when(io.request.valid)(goto(begin))
    }
    begin.whenIsActive {
      val fits = windowBytes < request.acked.resize(30)
      acked := fits ? windowBytes.resize(18) | request.acked
      second := False
      when(request.root)(goto(scaleBelow)) otherwise goto(scaleTerm)
    }

    // ---- growth

    val scaleTerm: State = multiply(U(term), request.segmentSize, place)(perSegment := _.resized)
    place.whenIsActive {
      at := request.tMinusK.resize(32) + (second ? request.roundTrip | U(0, 26 bits)).resize(32).asSInt
      goto(measure)
    }
    measure.whenIsActive {
      val magnitude = at.msb ? (-at).asUInt | at.asUInt
      below := at.msb
      far := magnitude(31 downto 30).orR ? U((1 << 30) - 1, 30 bits) | magnitude.resize(30)
      goto(squareIt)
    }
    val squareIt: State = multiply(far, far, cubeIt)(product => square := (product >> cubeShift).resized)
    val cubeIt: State = multiply(square, far, termIt)(product => cube := (product >> cubeShift).resized)
    val termIt: State = multiply(cube, perSegment, rise)(product => term61 := (product >> termShift).resized)
    rise.whenIsActive {
      val wMax = (request.wMax @@ U(0, 16 bits)).resize(63).asSInt
      val term = term61.resize(63).asSInt
      height := below ? (wMax - term) | (wMax + term)
      goto(bound)
    }
    bound.whenIsActive {
      val tall = height.asUInt(61 downto 46).orR
      window := height.msb ? U(0, 46 bits) | (tall ? U((BigInt(1) << 46) - 1, 46 bits) | height.asUInt.resize(46))
      goto(compare)
    }
    compare.whenIsActive {
      toTarget := (window -^ request.cwnd).asSInt
      goto(settle)
    }
    settle.whenIsActive {
      val half = request.cwnd >> 1
      when(second) {
        gain := toTarget.msb ? U(0, 45 bits) | ((half < toTarget.asUInt) ? half | toTarget.asUInt.resize(45))
        goto(weigh)
      } otherwise {
        now := window
        second := True
        goto(place)
      }
    }
    val weigh: State = multiply(gain, acked, share)(product => amount := product.resized)
    val share: State =
      divide(amount @@ U(0, 16 bits), request.cwnd, scaleAlpha)(quotient => response.increase := quotient.resized)
    val scaleAlpha: State =
      multiply(request.reno ? U(1 << alphaShift, 17 bits) | U(alpha, 17 bits), request.segmentSize, weighAlpha)(
        product => alphaSegment := product.resized)
    val weighAlpha: State = multiply(alphaSegment, acked, shareAlpha)(product => amount := product.resized)
    val shareAlpha: State =
      divide(amount @@ U(0, 16 bits), request.cwnd, sum)(quotient => response.wEstIncrease := quotient.resized)
    sum.whenIsActive {
      wEstAfter := request.wEst +^ response.wEstIncrease
      goto(friendly)
    }
    friendly.whenIsActive {
      response.friendly := now < wEstAfter
      goto(respond)
    }

    // ---- K

    val scaleBelow: State = multiply(
      U(inverse), (request.wMax < windowBytes) ? U(0, 30 bits) | (request.wMax - windowBytes), sharePower)(product =>
      amount := product.resized)
    val sharePower: State = divide(amount, request.segmentSize, takeRoot) { quotient =>
      power := (quotient >> 3 * rootBits).orR ? U((BigInt(1) << 3 * rootBits) - 1, 3 * rootBits bits) | quotient.resize(
        3 * rootBits)
    }
    val takeRoot: State = root(power, respond)(k => response.assignFromBits((k @@ U(0, 4 bits)).resize(64).asBits))

    respond.whenIsActive {
      io.response.valid := True
      goto(idle)
    }
  }
}
