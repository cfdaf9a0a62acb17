// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{Calculator, CalculatorRequest, CalculatorUnit, EngineSizes}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._
import spinal.lib.math.UnsignedDivider

/** Time is in ticks of 1,024 ns. */
case class CubicRequest() extends Bundle {
  /** K is asked for; otherwise the growth. */
  val root = Bool()
  /** W_est has reached the window before the loss: it grows as Reno's from now on. */
  val reno = Bool()
  val segmentSize = UInt(16 bits)
  /** Bytes that were acknowledged. */
  val acked = UInt(18 bits)
  val roundTrip = UInt(26 bits)
  /** t - K. */
  val tMinusK = SInt(31 bits)
  /** W_max, bytes. */
  val wMax = UInt(30 bits)
  /** cwnd and W_est, bytes with 16 fraction bits. */
  val cwnd, estimate = UInt(46 bits)
}

/** Bytes with 16 fraction bits. With `root` the whole response is K, ticks. */
case class CubicResponse() extends Bundle {
  /** Of cwnd. */
  val increase = UInt(33 bits)
  /** Of W_est. */
  val estimated = UInt(30 bits)
  /** W_cubic(t) < W_est with that: the Reno-friendly region. */
  val friendly = Bool()
}

/** CUBIC's window (RFC 9438): C = 0.4, beta = 0.7, in fixed point.
  *
  *   W_cubic(t) = C (t - K)^3 + W_max segments (equation 1), between 0 and 1 GiB
  *   target     = W_cubic(t + RTT), between cwnd and 1.5 cwnd (4.2)
  *   increase   = (target - cwnd) N / cwnd for N acknowledged bytes, a window's worth at most (4.4, 4.5)
  *   estimated  = alpha SMSS N / cwnd, alpha = 9 / 17 = 3 (1 - beta) / (1 + beta), or 1 (4.3)
  *   K          = cube root of (W_max - cwnd) / C segments (equation 2), in steps of 16 ticks
  *
  * d d and d d d are cut to 20 bits below; so W_cubic is within 0.5 byte and 1e-7 of C d^3 of the equation, K within 16.4 us.
  *
  * One request at a time: a serial multiplier, SpinalHDL's divider, a serial cube root; about 530 clocks, 200 for K.
  */
object CubicGrowth extends Calculator {
  val name = "cubicgrowth"
  val requestBits: Int = 215
  val responseBits: Int = 64
  /** C tick^3 x 2^85: of a segment into bytes with 16 fraction bits, 40 bits for the cuts and 29 of its own. */
  val term = BigInt(16615350)
  val termShift = 29
  val cubeShift = 20
  /** 1 / (C tick^3), for ticks of 16. */
  val inverse = BigInt(568434188608080L)
  val rootBits = 25
  val alphaShift = 16
  /** 9 / 17. */
  val alpha = 34696
  def build(config: EngineSizes): CalculatorUnit = new CubicGrowthUnit(config)
}

class CubicGrowthUnit(config: EngineSizes) extends CalculatorUnit(config, CubicGrowth) {
  import CubicGrowth._

  private val asked = Reg(CalculatorRequest(config, requestBits))
  private val request = asked.operands.as(CubicRequest())
  private val multiplier = SerialMultiplier(leftBits = 50, rightBits = 40)
  private val divider = new UnsignedDivider(nWidth = 80, dWidth = 46, storeDenominator = true)
  private val cubeRoot = CubeRoot(rootBits)

  private val windowBytes = request.cwnd >> 16
  private val acked = Reg(UInt(18 bits))
  /** The second of two: W_cubic(t + RTT). */
  private val second = Reg(Bool())
  private val below = Reg(Bool())
  private val far = Reg(UInt(30 bits))
  private val square = Reg(UInt(40 bits))
  private val cube = Reg(UInt(50 bits))
  private val perSegment = Reg(UInt(40 bits))
  private val term61 = Reg(UInt(61 bits))
  /** t - K, or with the round trip; W_cubic there, before and after its bounds; what it is above cwnd. */
  private val at = Reg(SInt(32 bits))
  private val height = Reg(SInt(63 bits))
  private val window = Reg(UInt(46 bits))
  private val toTarget = Reg(SInt(47 bits))
  private val now = Reg(UInt(46 bits))
  private val estimateAfter = Reg(UInt(47 bits))
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
    /** Two states: `put` offers a request until it is taken, and `use` has the result when it comes. */
    private def asks(put: => Bool)(result: Flow[UInt], after: => State)(use: UInt => Unit): State = {
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
    private def multiply(left: => UInt, right: => UInt, after: => State)(use: UInt => Unit): State = asks {
      multiplier.io.request.valid := True
      multiplier.io.request.left := left.resized
      multiplier.io.request.right := right.resized
      multiplier.io.request.ready
    }(multiplier.io.product, after)(use)
    private def divide(numerator: => UInt, denominator: => UInt, after: => State)(use: UInt => Unit): State = asks {
      divider.io.cmd.valid := True
      divider.io.cmd.numerator := numerator.resized
      divider.io.cmd.denominator := denominator.resized
      divider.io.cmd.ready
    }(quotient, after)(use)
    private def root(value: => UInt, after: => State)(use: UInt => Unit): State = asks {
      cubeRoot.io.value.valid := True
      cubeRoot.io.value.payload := value
      cubeRoot.io.value.ready
    }(cubeRoot.io.root, after)(use)

    val idle = makeInstantEntry()
    val begin, place, measure, rise, bound, compare, settle, sum, friendly, tell = new State

    idle.whenIsActive {
      io.request.ready := True
      asked := io.request.payload
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
    val share: State = divide(amount @@ U(0, 16 bits), request.cwnd, scaleAlpha)(quotient => response.increase := quotient.resized)
    val scaleAlpha: State = multiply(request.reno ? U(1 << alphaShift, 17 bits) | U(alpha, 17 bits), request.segmentSize, weighAlpha)(
      product => alphaSegment := product.resized)
    val weighAlpha: State = multiply(alphaSegment, acked, shareAlpha)(product => amount := product.resized)
    val shareAlpha: State = divide(amount @@ U(0, 16 bits), request.cwnd, sum)(quotient => response.estimated := quotient.resized)
    sum.whenIsActive {
      estimateAfter := request.estimate +^ response.estimated
      goto(friendly)
    }
    friendly.whenIsActive {
      response.friendly := now < estimateAfter
      goto(tell)
    }

    // ---- K

    val scaleBelow: State = multiply(
      U(inverse), (request.wMax < windowBytes) ? U(0, 30 bits) | (request.wMax - windowBytes), sharePower)(
      product => amount := product.resized)
    val sharePower: State = divide(amount, request.segmentSize, takeRoot) { quotient =>
      power := (quotient >> 3 * rootBits).orR ? U((BigInt(1) << 3 * rootBits) - 1, 3 * rootBits bits) | quotient.resize(3 * rootBits)
    }
    val takeRoot: State = root(power, tell)(root => response.assignFromBits((root @@ U(0, 4 bits)).resize(64).asBits))

    tell.whenIsActive {
      io.response.valid := True
      goto(idle)
    }
  }
}
