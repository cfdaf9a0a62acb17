// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.transmit

import downbeat.config.DownbeatConfig
import downbeat.congestion.CongestionEventKind
import spinal.core._
import spinal.lib.misc.pipeline._

/** PRR's account of a recovery; bytes. */
case class ProportionalRateState(config: DownbeatConfig) extends Bundle {
  private def bytes() = UInt(config.sendOffsetBits bits)
  /** prr_delivered, prr_out and RecoverFS. */
  val delivered, out, flight = bytes()
  /** With the last ACK no more than ssthresh was in flight; sndcnt that is left then. */
  val bounded = Bool()
  val left = bytes()
}

/** Proportional rate reduction (PRR, RFC 9937): in a recovery with SACK as much leaves as
  *
  *   - while more than ssthresh is in flight: sndcnt = prr_delivered ssthresh / RecoverFS - prr_out;
  *   - otherwise: sndcnt = min(ssthresh - pipe, max(prr_delivered - prr_out, DeliveredData) + SMSS on a safe ACK).
  *
  * An ACK is safe if it advances SND.UNA and nothing that is lost waits to be sent again. A segment leaves while sndcnt
  * is above zero, so sndcnt is rounded up to a segment where the RFC rounds up to a byte: small segments do not wait for
  * the bytes of a large one. Nothing is divided: sndcnt > 0 is prr_delivered ssthresh > prr_out RecoverFS.
  *
  * The first segment of a recovery leaves at once; so does the segment at SND.UNA when it is sent again in vain, as a
  * timeout would send it, and a lost segment while the scoreboard is full: a range that is dropped is not delivered.
  */
class ProportionalRate(val view: TransmitView) extends Area {
  import view._
  import signals._
  private val bits = config.sendOffsetBits
  private def none = U(0, bits bits)
  /** A recovery of many round trips has its bytes delivered and sent all ones: DeliveredData decides then. */
  private def saturated(sum: UInt): UInt = Mux[UInt](sum.msb, none.getAllTrue, sum.resize(bits))

  private val begin = new s0.Area {
    val begins = insert(PROPORTIONAL && CONGESTION_KIND === CongestionEventKind.loss)
    val arrives = insert(PROPORTIONAL && DELIVERED > 0)
    val delivered = insert(Mux[SInt](begins, S(0, bits + 2 bits), before.rate.delivered.resize(bits + 2).asSInt) +
      DELIVERED)
    val out = insert(Mux[UInt](begins, none, before.rate.out))
    val outstanding = insert((OUTSTANDING_BEFORE - ACKED).resize(bits))
    val notHeld = insert(DELIVERED - WINDOW_ALLOWANCE.resize(bits + 2).asSInt)
    val safe = insert(ADVANCED && !RETRANSMIT && !RETRANSMIT_LOST)
  }

  private val account = new s1.Area {
    val delivered = insert(Mux[UInt](begin.delivered.msb, none, saturated(begin.delivered.asUInt.resize(bits + 1))))
    val flight = insert(
      Mux[UInt](begin.begins, (begin.outstanding.resize(bits + 2).asSInt + begin.notHeld).asUInt.resize(bits),
        before.rate.flight))
    val ssthresh = insert(WINDOW.ssthresh(47 downto 16).resize(bits))
    /** It is above all that can be outstanding. */
    val isHigh = insert(WINDOW.ssthresh(47 downto 16 + bits).orR)
    /** ssthresh - pipe, signed. */
    val space = insert(WINDOW.ssthresh(47 downto 16).resize(bits) -^ PIPE)
    val spent = new Factors(s1, begin.out, insert(before.rate.flight))
  }
  private val earn = new s2.Area {
    val earned = new Factors(s2, account.delivered, account.ssthresh)
    /** prr_delivered - prr_out, signed. */
    val unsent = insert(account.delivered -^ begin.out)
    val exceeds = insert(account.space.msb && !account.isHigh)
    val fills = insert(!account.space.orR && !account.isHigh)
  }
  private val judge = new s3.Area {
    private val fresh = DELIVERED.asUInt.resize(bits)
    val base = insert(Mux[UInt](earn.unsent.msb || earn.unsent.resize(bits) < fresh, fresh, earn.unsent.resize(bits)))
    /** sndcnt is above zero by the proportion. */
    private val proportion = account.spent.product(s3) < earn.earned.product(s3)
    private val byBound = Mux[Bool](begin.arrives, !earn.fills, before.rate.left.orR)
    private val bounded = Mux[Bool](begin.arrives, !earn.exceeds, before.rate.bounded && !begin.begins)
    val isBounded = insert(bounded)
    val permits = insert(!PROPORTIONAL || !begin.out.orR || Mux[Bool](bounded, byBound, proportion))
  }
  /** A segment may leave, as far as PRR says; on step 4. */
  val permits: Payload[Bool] = judge.permits

  private val bound = new s4.Area {
    private val withSafe = judge.base +^ Mux[UInt](begin.safe, SEGMENT_SIZE.resize(bits), none)
    private val space = account.space.resize(bits)
    val left = insert(Mux[UInt](!account.isHigh && space < withSafe, space, saturated(withSafe)))
  }

  /** On step 5: the state after the event, which sends `length` bytes, or, not `granted`, none. */
  def after(granted: Payload[Bool], length: Payload[UInt]): ProportionalRateState = {
    val state = ProportionalRateState(config)
    new s5.Area {
      private val sent = Mux[UInt](granted, length.resize(bits), none)
      private val left = Mux[UInt](begin.arrives && judge.isBounded, bound.left, before.rate.left)
      state.delivered := account.delivered
      state.out := saturated(begin.out +^ sent)
      state.flight := account.flight
      state.bounded := judge.isBounded
      state.left := Mux[UInt](left < sent, none, left - sent)
    }
    state
  }

  /** A product in two steps: the parts of it that a multiplier makes on `step`, and their sum later. */
  private class Factors(step: Node, left: Payload[UInt], right: Payload[UInt]) extends Area {
    private val block = 18
    private val low = step.insert(step(left) * step(right).resize(block min bits))
    private val high = (bits > block) generate step.insert(step(left) * (step(right) >> block))
    def product(node: Node): UInt =
      if (bits > block) node(low).resize(2 * bits) + (node(high) << block).resize(2 * bits) else node(low)
  }
}
