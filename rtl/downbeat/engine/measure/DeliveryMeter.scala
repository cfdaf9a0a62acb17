// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.measure

import downbeat.config.DownbeatConfig
import downbeat.congestion.{DeliverySample, Window}
import downbeat.engine.pipeline.{EnginePipeline, Signals, Stage}
import downbeat.engine.recovery.SendLog
import downbeat.lib.WideMemory
import downbeat.lib.ecc.StateMemory
import downbeat.messages.EventKind
import downbeat.time.NearInstant
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** The delivery meter's state of a connection (draft-ietf-ccwg-bbr 4.1.2), in a side memory. Bytes; totals modulo 2^32.
  */
case class DeliveryState(config: DownbeatConfig) extends Bundle {
  /** C.delivered, and C.lost. */
  val delivered, lost = UInt(32 bits)
  val deliveredTime, firstSend = NearInstant(config.roundTripBits)
  /** Lost and not sent again. */
  val lostNow = UInt(config.sendOffsetBits bits)
  /** One past the highest byte that the peer has reported. */
  val highest = SequenceNumber()
  /** C.app_limited: until the total exceeds `limitedUntil`. */
  val limited = Bool()
  val limitedUntil = UInt(32 bits)
}

/** P: a segment, and the connection when it left. */
case class DeliveryRecord(config: DownbeatConfig) extends Bundle {
  /** One past its last byte. */
  val end = SequenceNumber()
  /** The SFD has been seen at the wire, at `departure`. */
  val departed = Bool()
  val departure = NearInstant(config.roundTripBits)
  val delivered, lost = UInt(32 bits)
  val deliveredTime, firstSend = NearInstant(config.roundTripBits)
  val inFlight = UInt(config.sendOffsetBits bits)
  val limited = Bool()
}

/** Samples the delivery rate with each ACK ([[DeliverySample]]).
  *
  * The log of a connection has [[SendLog.places]] records, each for an equal part of the send buffer: the first segment
  * that ends there, until the peer holds it. An ACK finds the place of the highest byte that it reports, cumulatively or
  * by its first SACK block. It has a sample if that byte is beyond all that were reported before, and the segment of
  * the place is delivered with it. An ACK that only fills holes has none: they were sent again (4.1.3.5).
  *
  * The connection is limited by the application when all that was written has left, nothing waits to be sent again, and
  * cwnd is not full (4.1.2.4), after each ACK and each segment.
  *
  * Totals of losses and PIPE come while congestion begins, so the sample is there on congestion's third step.
  *
  * Departs from the draft: what goes again after a timeout is lost when it leaves. A loss that a tail loss probe
  * repaired does not count.
  *
  * @param steps  of the measure stage
  * @param window the connection's before the event, on the congestion stage's first step
  */
class DeliveryMeter(
    config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals, steps: Seq[Node],
    window: Payload[Window])
    extends Area {
  import signals._
  private val Seq(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9) =
    pipeline.nodes.drop(pipeline.nodes.indexOf(steps.head)).take(10)
  private val bits = config.sendOffsetBits
  private val places = SendLog.places(config)
  private val states = StateMemory(config.ecc, DeliveryState(config), config.flows)
  private val records = StateMemory(config.ecc, DeliveryRecord(config), config.flows * places)
  for (memory <- Seq(states, records)) memory.addAttribute("no_rw_check") // events of one flow are too far apart
  if (config.flows * places > Stage.distributed) WideMemory(records)

  private val select = new m0.Area {
    val isSent = insert(LIVE && KIND === EventKind.sent && (LENGTH.orR || FLAGS.fin))
    val isDeparted = insert(LIVE && KIND === EventKind.departed)
    val isAck = insert(LIVE && KIND === EventKind.segment && (ADVANCED || REPEATED))
    val begins = insert(OPENING || ESTABLISHED)
    val length = insert(LENGTH + FLAGS.fin.asUInt)
    /** Bytes from SND.UNA that the first block reaches. A duplicate SACK (RFC 2883) stands first and is none. */
    private val block = Mux(OPTIONS.sack(0).valid, OPTIONS.sack(0), OPTIONS.sack(1))
    private val counts = SELECTIVE && block.valid && !(OUTSTANDING.resize(bits) < block.right)
    val reach = insert(Mux(counts, block.right, U(0, bits bits)))
    val allSent = insert(HIGHEST_SENT.value === WRITTEN.value)
  }
  private val locate = new m1.Area {
    private val base = Mux[UInt](select.isAck, UNACKNOWLEDGED.value, SEQUENCE.value)
    private val more = Mux[UInt](select.isSent, select.length, select.reach.resize(32))
    /** End of the segment that the event is about, or of all that the ACK reports. */
    val end = insert(base + Mux(select.isDeparted, U(0, 32 bits), more))
  }
  private val address = new m2.Area {
    val flow: UInt = FLOW
    val place = insert(locate.end(log2Up(config.sendBufferBytes) - 1 downto log2Up(config.sendBufferBytes / places)))
    val record = FLOW @@ place
  }
  private val state = pipeline.readSide(states, m2, address.flow, needed = _(LIVE))
  private val record =
    pipeline.readSide(records, m2, address.record, needed = node => node(select.isAck) || node(select.isDeparted)).word

  private val begin = new m3.Area {
    /** The state before the event; a connection begins with nothing. */
    val before = insert {
      val before = CombInit[DeliveryState](state.word).allowOverride()
      when(select.begins) {
        before.clearAll()
        before.highest := UNACKNOWLEDGED
        before.deliveredTime := NOW.low(config.roundTripBits)
        before.firstSend := NOW.low(config.roundTripBits)
      }
      before
    }
  }
  private val compare = new m4.Area {
    import begin.before
    private def since(number: UInt): UInt = number - before.highest.value
    /** Of the ACK, and of the record: bytes beyond all that were reported before. */
    val reported = insert(since(locate.end))
    val recorded = insert(since(record.end.value))
    val outstanding = insert(since(HIGHEST_SENT.value))
    val within = insert(locate.end - record.end.value) // signed
    val isIt = insert(record.end.value === locate.end)
    val sending = insert(record.departure.units - record.firstSend.units)
    val acknowledging = insert(STAMP.instant.low(config.roundTripBits).units - record.deliveredTime.units)
    /** What goes again was lost, so less is lost and not sent again now. */
    private val again = Mux[UInt](select.isSent && RESENT && !TAIL_PROBE, LENGTH, U(0, 32 bits))
    val owed = insert((again -^ before.lostNow.resize(32)).asSInt)
    val room = insert(record.inFlight.resize(31) + SEGMENT_SIZE)
    val limit = insert(before.limitedUntil)
  }
  private val judge = new m5.Area {
    private def isAfter(distance: UInt): Bool = !distance.msb && distance.orR
    val reports = insert(select.isAck && isAfter(compare.reported))
    val sampled = insert(isAfter(compare.recorded) && !compare.within.msb && record.departed)
    /** The place has another segment, which the peer does not hold. */
    val taken = insert(!compare.isIt && isAfter(compare.recorded) && !(compare.outstanding < compare.recorded))
    val departs = insert(select.isDeparted && compare.isIt && !record.departed)
    val longer = insert(Mux[UInt](compare.sending < compare.acknowledging, compare.acknowledging, compare.sending))
    val newly = insert(Mux(select.isAck, DELIVERED.resize(32).asUInt, U(0, 32 bits)))
  }
  private val count = new m6.Area {
    val delivered = insert(begin.before.delivered + judge.newly)
    val arrives = insert(judge.newly.orR && !judge.newly.msb)
    val interval = insert {
      val interval = judge.longer.resize(36)
      when(judge.longer.takeHigh(config.roundTripBits - 36).orR)(interval.setAll())
      interval
    }
    val fills = insert(window.cwnd(46 downto 16) < compare.room)
  }
  private val bound = new m7.Area {
    val over = insert((compare.limit - count.delivered).msb)
    val hasRate = insert(!(count.interval < RTT_MINIMUM))
    val newlyLost = insert(apply(LOST).resize(34).asSInt + compare.owed.resize(34))
    val lostNow = insert(apply(LOST))
  }
  private val total = new m8.Area {
    val lost = insert(begin.before.lost + (bound.newlyLost.msb ? U(0, 32 bits) | bound.newlyLost(31 downto 0).asUInt))
    val pipe = insert(apply(PIPE))
    /** Nothing else is in flight. */
    val alone = insert(select.isSent && PIPE.resize(32) === select.length)
    val idles = insert((select.isAck || select.isSent || select.begins) && select.allSent && !bound.lostNow.orR &&
      PIPE.resize(31) < window.cwnd(46 downto 16))
    val limitedUntil = insert(count.delivered + PIPE.resize(32))

    DELIVERY.valid := judge.reports && judge.sampled
    DELIVERY.delivered := count.delivered
    DELIVERY.priorDelivered := record.delivered
    DELIVERY.interval := Mux[UInt](bound.hasRate, count.interval, U(0, 36 bits))
    DELIVERY.lost := lost
    DELIVERY.priorLost := record.lost
    DELIVERY.txInFlight := record.inFlight.resized
    DELIVERY.inFlight := PIPE.resized
    DELIVERY.appLimited := record.limited
    DELIVERY.cwndLimited := count.fills
    DELIVERY.selective := SELECTIVE
  }

  private val update = new m9.Area {
    private val now = NOW.low(config.roundTripBits)
    private val after = CombInit[DeliveryState](begin.before).allowOverride()
    after.delivered := count.delivered
    after.lost := total.lost
    after.lostNow := bound.lostNow
    when(count.arrives)(after.deliveredTime := STAMP.instant.low(config.roundTripBits))
    when(judge.reports) {
      after.highest.value := locate.end
      when(judge.sampled)(after.firstSend := record.departure)
    }
    when(total.alone) {
      after.firstSend := now
      after.deliveredTime := now
    }
    when(bound.over)(after.limited := False)
    when(total.idles) {
      after.limited := True
      after.limitedUntil := total.limitedUntil
    }
    if (config.ecc) StateMemory.poison(states, state.unreadable)
    pipeline.behind(m9)(states.write(FLOW, after, isValid && (LIVE || OPENING)))

    private val written = CombInit[DeliveryRecord](record).allowOverride()
    when(select.isSent) {
      written.end.value := locate.end
      written.departed := False
      written.delivered := begin.before.delivered
      written.lost := total.lost
      written.deliveredTime := after.deliveredTime
      written.firstSend := after.firstSend
      written.inFlight := total.pipe
      written.limited := begin.before.limited
    } otherwise {
      written.departed := True
      written.departure := STAMP.instant.low(config.roundTripBits)
    }
    private val logs = select.isSent && !judge.taken || judge.departs
    pipeline.behind(m9)(records.write(FLOW @@ address.place, written, isValid && logs))
  }
}
