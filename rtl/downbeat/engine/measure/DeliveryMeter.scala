// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.measure

import downbeat.config.DownbeatConfig
import downbeat.congestion.{DeliverySample, Window}
import downbeat.engine.pipeline.{EnginePipeline, Signals, Stage}
import downbeat.engine.recovery.SendLog
import downbeat.lib.WideMemory
import downbeat.lib.ecc.StateMemory
import downbeat.messages.EventKind
import downbeat.time.{Instant, NearInstant}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Samples the delivery rate with each ACK ([[DeliverySample]]).
  *
  * The log of a connection has [[SendLog.places]] records, each for 2^shift bytes: the first segment that ends there,
  * until the peer holds it; one that was sent again, until it is acknowledged cumulatively. The shift follows the
  * flight, so that an eighth of the places or more are in it. It changes at most once in a round trip. An ACK finds the
  * place of the highest byte that it reports, cumulatively or by its first SACK block. It has a sample if that byte is
  * beyond all that were reported before, and the segment of the place is delivered with it. An ACK that only fills the
  * first hole has one if the place of that segment has it. One that came sooner than the smallest round trip is of the
  * segment's first departure, and no sample.
  *
  * The connection is limited by the application when less than a segment waits to be sent, none to be sent again, and
  * cwnd is not full (4.1.2.4), at its begin and after each ACK and each segment.
  *
  * Totals of losses and PIPE come while congestion begins, so the sample is there on congestion's third step.
  *
  * Departs from the draft: what goes again after a timeout is lost when it leaves, also if it had been lost before;
  * until then it is in flight. What goes again in a window that has opened, or in smaller segments, counts as lost; a
  * loss that a tail loss probe repaired does not.
  *
  * @param steps  of the measure stage
  * @param window the connection's before the event, on the congestion stage's first step
  */
class DeliveryMeter(
    config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals, steps: Seq[Node],
    window: Payload[Window])
    extends Area {
  import signals._
  private val Seq(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10) =
    pipeline.nodes.drop(pipeline.nodes.indexOf(steps.head)).take(11)
  private val bits = config.sendOffsetBits
  private val places = SendLog.places(config)
  private val longest = DeliveryMeter.longestShift(config)
  private val varies = longest > SendLog.placeShift
  private val maps = StateMemory(config.ecc, DeliveryPlaces(config), config.flows)
  private val states = StateMemory(config.ecc, DeliveryState(config), config.flows)
  private val records = StateMemory(config.ecc, DeliveryRecord(config), config.flows * places)
  for (memory <- Seq(states, records, maps))
    memory.addAttribute("no_rw_check") // events of one flow are too far apart to collide
  if (config.flows * places > Stage.distributed) WideMemory(records)
  private def low(instant: Instant): NearInstant = instant.low(config.roundTripBits)

  // ---- steps 0 to 3: the place

  private val select = new m0.Area {
    val flow: UInt = FLOW
    val isSent = insert(LIVE && KIND === EventKind.sent && (LENGTH.orR || FLAGS.fin))
    val isDeparted = insert(LIVE && KIND === EventKind.departed)
    val isAck = insert(LIVE && KIND === EventKind.segment && (ADVANCED || REPEATED))
    val begins = insert(OPENING || ESTABLISHED)
    val length = insert(LENGTH + FLAGS.fin.asUInt)
    /** Bytes from SND.UNA that the first block reaches. A duplicate SACK (RFC 2883) stands first and is none. */
    private val block = Mux(OPTIONS.sack(0).valid, OPTIONS.sack(0), OPTIONS.sack(1))
    private val counts = SELECTIVE && block.valid && !(OUTSTANDING.resize(bits) < block.right)
    val reach = insert(Mux(counts, block.right, U(0, bits bits)))
    val unsent = insert(WRITTEN.value - HIGHEST_SENT.value) // signed: a FIN is not written
  }
  private val mapRead = pipeline.readSide(maps, m0, select.flow, needed = _(LIVE))
  private val locate = new m1.Area {
    private val base = Mux[UInt](select.isAck, UNACKNOWLEDGED.value, SEQUENCE.value)
    private val more = Mux[UInt](select.isSent, select.length, select.reach.resize(32))
    /** Less than a segment waits. */
    val allSent = insert(select.unsent.msb || select.unsent < SEGMENT_SIZE.resize(32))
    /** End of the segment that the event is about, or of all that the ACK reports. */
    val end = insert(base + Mux(select.isDeparted, U(0, 32 bits), more))
    /** End of the first segment that had not been acknowledged, if it is a full one. */
    val firstEnd = insert(UNACKNOWLEDGED.value - ACKED + SEGMENT_SIZE)
    val map = insert {
      val map = CombInit[DeliveryPlaces](mapRead.word).allowOverride()
      when(select.begins) {
        map.highest := UNACKNOWLEDGED
        if (varies) {
          map.shift := SendLog.placeShift
          map.shiftBefore := SendLog.placeShift
          map.changedAt := UNACKNOWLEDGED
        }
      }
      map
    }
  }
  /** The number has the shift of now. */
  private def follows(number: UInt, map: DeliveryPlaces): Bool = isAfter(number - map.changedAt.value)
  private def isAfter(distance: UInt): Bool = !distance.msb && distance.orR
  private val choose = new m2.Area {
    val flow: UInt = FLOW
    val reported = insert(locate.end - locate.map.highest.value)
    /** The ACK reports more than all before it; it only fills the first hole. */
    val reports = insert(select.isAck && isAfter(reported))
    val fills = insert(select.isAck && ADVANCED && !isAfter(reported))
    val end = insert(Mux[UInt](fills, locate.firstEnd, locate.end))
    val isNew =
      varies generate insert(Mux[Bool](fills, follows(locate.firstEnd, locate.map), follows(locate.end, locate.map)))
  }
  private val address = new m3.Area {
    private val shift = varies generate Mux[UInt](choose.isNew, locate.map.shift, locate.map.shiftBefore)
    private def at(shift: Int) = choose.end(shift, log2Up(places) bits)
    private val shifts = SendLog.placeShift to longest
    val place = insert(
      if (varies) MuxOH.or(Vec(shifts.map(shift === _)), shifts.map(at)) else at(SendLog.placeShift))
    val record = FLOW @@ place
  }
  private val stateRead = pipeline.readSide(states, m2, choose.flow, needed = _(LIVE))
  private val record =
    pipeline.readSide(records, m3, address.record, needed = node => node(select.isAck) || node(select.isDeparted)).word

  // ---- steps 3 to 8: the sample

  private val begin = new m3.Area {
    /** The state before the event; a connection begins with nothing. */
    val before = insert {
      val before = CombInit[DeliveryState](stateRead.word).allowOverride()
      when(select.begins) {
        before.clearAll()
        before.deliveredTime := low(NOW)
        before.firstSend := low(NOW)
      }
      before
    }
  }
  import begin.before
  private val compare = new m5.Area {
    private def beyondHighest(number: UInt): UInt = number - locate.map.highest.value
    val recorded = insert(beyondHighest(record.end.value))
    val unacknowledged = insert(record.end.value - UNACKNOWLEDGED.value)
    val outstanding = insert(beyondHighest(HIGHEST_SENT.value))
    val within = insert(locate.end - record.end.value) // signed
    val isIt = insert(record.end.value === choose.end)
    /** A record by the shift before gives way to one by the new shift. */
    val givesWay = insert(if (varies) choose.isNew && !follows(record.end.value, locate.map) else False)
    val sending = insert(record.departure.units - record.firstSend.units)
    val acknowledging = insert(low(STAMP.instant).units - record.deliveredTime.units)
    /** Bytes that go again were lost, so less is lost and not sent again now. */
    private val again = Mux[UInt](select.isSent && RESENT && !TAIL_PROBE, select.length, U(0, 32 bits))
    val owed = insert((again -^ before.lostNow.resize(32)).asSInt)
    val filled = insert(record.inFlight.resize(31) + SEGMENT_SIZE)
    /** A timeout takes back what the peer had reported selectively. */
    val delivered = insert(Mux(select.begins, U(0, 32 bits), DELIVERED.resize(32).asUInt))
  }
  private val judge = new m6.Area {
    private val isNewest = choose.reports && isAfter(compare.recorded) && !compare.within.msb
    val sampled = insert((isNewest || choose.fills && compare.isIt) && record.departed)
    /** The place has another segment: a new one that the peer does not hold, or one that repairs a loss. */
    val taken = insert(
      !compare.isIt && !compare.givesWay && Mux[Bool](
        isAfter(compare.recorded), !(compare.outstanding < compare.recorded),
        record.again && isAfter(compare.unacknowledged)))
    val departs = insert(select.isDeparted && compare.isIt && !record.departed)
    val longer =
      insert(Mux[UInt](compare.sending < compare.acknowledging, compare.acknowledging, compare.sending))
    val delivered = insert(before.delivered + compare.delivered)
    val arrives = insert(select.isAck && isAfter(compare.delivered))
    val isFull = insert(window.cwnd(46 downto 16) < compare.filled)
  }
  private val bound = new m7.Area {
    val interval = insert {
      val interval = judge.longer.resize(36)
      when(judge.longer.takeHigh(config.roundTripBits - 36).orR)(interval.setAll())
      interval
    }
    val hasRate = insert(!(judge.longer < RTT_MINIMUM))
    val over = insert((before.limitedUntil - judge.delivered).msb)
    val newlyLost = insert(apply(LOST).resize(34).asSInt + compare.owed.resize(34))
    val lostNow = insert(apply(LOST))
  }
  private val total = new m8.Area {
    val lost = insert(before.lost + (bound.newlyLost.msb ? U(0, 32 bits) | bound.newlyLost(31 downto 0).asUInt))
    val pipe = insert(apply(PIPE))
    /** Nothing else is in flight. */
    val alone = insert(select.isSent && PIPE.resize(32) === select.length)
    private val fits = PIPE.resize(31) < window.cwnd(46 downto 16)
    val idles = insert(
      (select.begins || (select.isAck || select.isSent) && fits) && locate.allSent && !bound.lostNow.orR)
    val limitedUntil = insert(judge.delivered + PIPE.resize(32))

    DELIVERY.valid := judge.sampled && bound.hasRate
    DELIVERY.delivered := judge.delivered
    DELIVERY.priorDelivered := record.delivered
    DELIVERY.interval := bound.interval
    DELIVERY.lost := lost
    DELIVERY.priorLost := record.lost
    DELIVERY.txInFlight := record.inFlight.resized
    DELIVERY.inFlight := PIPE.resized
    DELIVERY.appLimited := record.limited
    DELIVERY.cwndLimited := judge.isFull
    DELIVERY.selective := SELECTIVE
  }

  // ---- state, log, and places after the event

  private val update = new m9.Area {
    private val after = CombInit[DeliveryState](before).allowOverride()
    after.delivered := judge.delivered
    after.lost := total.lost
    after.lostNow := bound.lostNow
    when(judge.arrives)(after.deliveredTime := low(STAMP.instant))
    when(judge.sampled)(after.firstSend := record.departure)
    when(total.alone) {
      after.firstSend := low(NOW)
      after.deliveredTime := low(NOW)
    }
    when(bound.over)(after.limited := False)
    when(total.idles) {
      after.limited := True
      after.limitedUntil := total.limitedUntil
    }
    if (config.ecc) StateMemory.poison(states, stateRead.unreadable)
    pipeline.behind(m9)(states.write(FLOW, after, isValid && (LIVE || OPENING)))
    val deliveredTime = insert(after.deliveredTime)
    val firstSend = insert(after.firstSend)
  }
  private val log = new m10.Area {
    private val written = CombInit[DeliveryRecord](record).allowOverride()
    when(select.isSent) {
      written.end.value := locate.end
      written.departed := False
      written.delivered := judge.delivered
      written.lost := total.lost
      written.deliveredTime := update.deliveredTime
      written.firstSend := update.firstSend
      written.inFlight := total.pipe
      written.limited := before.limited
      written.again := RESENT && !TAIL_PROBE
    } otherwise {
      written.departed := True
      written.departure := low(STAMP.instant)
    }
    private val logs = select.isSent && !judge.taken || judge.departs
    pipeline.behind(m10)(records.write(FLOW @@ address.place, written, isValid && logs))
  }
  private val follow = new Area {
    private val widthOfPlaces = log2Up(places)
    /** The shift with which the flight has at least half of the places, and larger ones. */
    private val measure = new m5.Area {
      val flight = insert(OHToUInt(OHMasking.last(OUTSTANDING.resize(bits))))
      val settled = varies generate insert(!(UNACKNOWLEDGED.value - locate.map.changedAt.value).msb)
    }
    private val fit = varies generate new m6.Area {
      private def larger(by: Int): Payload[UInt] = insert(Vec(Seq.tabulate(bits)(level =>
            U((level + 1 - widthOfPlaces + by) max SendLog.placeShift min longest, widthOf(locate.map.shift) bits)))(
          measure.flight))
      val Seq(low, middle, high) = Seq.tabulate(3)(larger)
    }
    new m7.Area {
      private val after = CombInit[DeliveryPlaces](locate.map).allowOverride()
      when(choose.reports)(after.highest.value := locate.end)
      if (varies) when(select.isAck && measure.settled) {
        after.changedAt := UNACKNOWLEDGED
        when(locate.map.shift < fit.low || fit.high < locate.map.shift) {
          after.shift := fit.middle
          after.shiftBefore := locate.map.shift
          after.changedAt := HIGHEST_SENT
        }
      }
      if (config.ecc) StateMemory.poison(maps, mapRead.unreadable)
      pipeline.behind(m7)(maps.write(FLOW, after, isValid && (LIVE || OPENING)))
    }
  }
}

object DeliveryMeter {
  /** The places of a log with this shift are the whole send buffer. */
  def longestShift(config: DownbeatConfig): Int =
    log2Up(config.sendBufferBytes / SendLog.places(config)) max SendLog.placeShift
}
