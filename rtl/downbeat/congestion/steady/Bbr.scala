// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.{BbrModel, BbrModelRequest, BbrModelResponse}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The policy state of [[Bbr]]. */
case class BbrState() extends Bundle {
  /** Since the last request that was taken: the connection is new, a reduction was taken back, the retransmission timer
    * expired, sending began again after idleness.
    */
  val opens, undone, timedOut, restarted = Bool()
  /** There has been a response; its spacing: ns per byte with 32 fraction bits are mantissa 2^exponent^. */
  val known = Bool()
  val mantissa = UInt(25 bits)
  val exponent = UInt(5 bits)

  /** The flags that a request reports and its response brings back. */
  def reported: Bits = opens ## undone ## timedOut ## restarted
}

/** BBR (draft-ietf-ccwg-bbr, version 3): a model of the path's bandwidth and smallest round trip says window and pacing
  * rate. [[BbrModel]] keeps the model and runs its state machine: one request for an ACK with a sample of the delivery
  * rate, or for all that came while it was busy.
  *
  *   cwnd = ssthresh = the response's window, and each segment leaves by its spacing
  *
  * Until the first response, and from a timeout to the next one, the start-up policy grows the window. BBR's own
  * Startup begins with the first sample.
  *
  * BBR does not cut the window with a loss: ssthresh = cwnd, so that PRR (RFC 9937) keeps the flight. In recovery the
  * response is for ssthresh alone. A response to a request from before a timeout leaves the windows.
  *
  * Departs from the draft: after idleness segments leave by the last spacing, not by the bandwidth, and with `nssr`
  * HandleRestartFromIdle() has no effect.
  */
object Bbr extends SteadyPolicy {
  val name = "bbr"
  override def state: Bundle = BbrState()
  override val paces = true
  override val samplesDelivery = true
  override val modelsPath = true
  override val calculator: Option[Calculator] = Some(BbrModel)

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(BbrState())

    val decide = new s0.Area {
      private def is(some: SpinalEnumElement[CongestionEventKind.type]*): Bool =
        some.map(event.kind === _).reduce(_ || _)
      val reduces = insert(is(kinds.loss, kinds.timeout))
      private val responds = is(kinds.calculated) && !calculated.ofStartup
      val response = insert(calculated.response.resize(widthOf(BbrModelResponse())).as(BbrModelResponse()))
      val requests = insert(!is(kinds.calculated) && !calculating)
      val after = insert {
        val after = CombInit[BbrState](before).allowOverride()
        val reported = calculated.note.resize(4).asBools
        when(responds) {
          after.opens := before.opens && !reported(3)
          after.undone := before.undone && !reported(2)
          after.timedOut := before.timedOut && !reported(1)
          after.restarted := before.restarted && !reported(0)
          after.known := True
          after.mantissa := response.mantissa
          after.exponent := response.exponent
        }
        when(is(kinds.timeout, kinds.timeoutAgain))(after.timedOut := True)
        when(is(kinds.undone))(after.undone := True)
        when(is(kinds.restart))(after.restarted := True)
        when(is(kinds.established)) {
          after.clearAll()
          after.opens := True
        }
        after
      }
      /** A response counts, unless its request is from before a timeout. */
      val counts = insert(responds && !after.timedOut)
    }
    val space = new s1.Area {
      val spacing = insert(decide.after.mantissa << decide.after.exponent)
      val cwnd = insert(Mux[UInt](event.recovering, window.ssthresh, window.cwnd))
    }

    val result = Payload(PolicyResult(stateBits, paces = true, requestBits))
    new s3.Area {
      result.window := window
      when(decide.reduces)(result.window.ssthresh := window.cwnd)
      when(decide.counts) {
        result.window.ssthresh := Window.ofBytes(decide.response.cwnd)
        when(!event.recovering)(result.window.cwnd := Window.ofBytes(decide.response.cwnd))
      }
      result.policyState := decide.after.asBits
      result.departure := DeparturePlan.configured
      when(decide.after.known) {
        result.departure.pace := Pace.spaced
        result.departure.time := space.spacing.resize(DeparturePlan.timeBits)
      }

      private val request = BbrModelRequest()
      request.opens := decide.after.opens
      request.undone := decide.after.undone
      request.timedOut := decide.after.timedOut
      request.restarted := decide.after.restarted
      request.recovering := event.recovering
      request.selective := delivery.selective
      request.cwndLimited := delivery.cwndLimited
      request.appLimited := delivery.appLimited
      request.initialWindow := event.initialWindow
      request.segmentSize := event.segmentSize
      request.delivered := delivery.delivered
      request.priorDelivered := delivery.priorDelivered
      request.interval := delivery.interval
      request.lost := delivery.lost
      request.priorLost := delivery.priorLost
      request.txInFlight := delivery.txInFlight
      request.inFlight := delivery.inFlight
      request.cwnd := space.cwnd(46 downto 16)
      request.rtt := event.rttValid ? event.rtt | U((BigInt(1) << 36) - 1, 36 bits)
      request.now := now.ns
      result.calculation.assign(decide.requests && delivery.valid, request,
        decide.after.reported.resize(Calculation.noteBits))
    }
  }.result
}
