// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.transmit

import downbeat.config.DownbeatConfig
import downbeat.congestion.CongestionEventKind
import downbeat.engine.pipeline.{EnginePipeline, ReturnEvent, Signals, Stage}
import downbeat.messages.{Booking, ConnectionEnd, SegmentDescriptor}
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Transmit: may the flow send, and what. It books a departure with the pacer; the grant that comes back sends one
  * segment.
  *
  * SYN, data and FIN are one sequence space here: SYN at the initial sequence number, FIN behind the last byte written.
  * Pure ACKs, RST and the end of a flow leave here too, without a grant.
  */
class TransmitStage(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals)
    extends Stage(config, pipeline, signals, 4, HardType(TransmitState(config))) {
  import signals._
  private val view = new TransmitView(config, signals, before, steps, pipeline.exit)
  private val words = new view.s1.Area {
    UNREADABLE := LIVE && pipeline.unreadable(view.s1)
  }
  private val resend = new RetransmittedSegment(view)
  private val rate = new ProportionalRate(view)
  private val decision = new TransmitDecision(view, rate)
  private val outgoing = new TransmitDescriptor(view, resend, decision)
  private val schedule = new TransmitBooking(view, decision)

  private val update = new view.s5.Area {
    import decision.{decide, origin, position, space}
    private val nextSend = SequenceNumber()
    nextSend := position.next
    when(decide.granted && !decide.retransmits && !outgoing.segment.ahead) {
      nextSend := position.next + decide.advance + decide.advancesFin.asUInt
      when(origin.halfWay)(nextSend := space.behindPair)
    }
    NEXT_SEND := nextSend

    private val after = TransmitState(config)
    after.nextSend := nextSend.low(config.sendNumberBits)
    schedule.update(after)
    after.probing := position.probing
    after.probed := !OPENING &&
      Mux[Bool](decide.granted, decide.probesShut && (!space.again || before.probed), before.probed)
    after.noDelay := Mux(OPENING, PARAMETERS.noDelay, before.noDelay)
    /** A mark or a loss reduces the window (RFC 3168 6.1.2). */
    private val reduces =
      ECN_CAPABLE && (CONGESTION_KIND === CongestionEventKind.loss || CONGESTION_KIND === CongestionEventKind.timeout)
    after.reduced := !OPENING && (reduces || before.reduced && !(decide.granted && outgoing.segment.ecnCapable))
    after.lastLength := Mux(decide.granted, outgoing.segment.length.resize(config.segmentBits),
      Mux(OPENING, U(0, config.segmentBits bits), before.lastLength))
    if (config.policiesPace)
      after.inverted := (origin.halfWay || decide.granted && outgoing.segment.ahead) &&
        !(decide.granted && origin.halfWay && !decide.retransmits)
    after.rate := rate.after(decide.granted, outgoing.segment.length)
    write(after, LIVE || OPENING)
  }

  val booking: Flow[Booking] = schedule.booking
  val descriptor: Flow[SegmentDescriptor] = outgoing.descriptor
  val returned: Flow[ReturnEvent] = outgoing.returned
  val ended: Flow[ConnectionEnd] = outgoing.ended
  /** The event sends what has been sent before. */
  val repeats: Bool = outgoing.output.repeats
}
