// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.{EnginePipeline, Stage}
import downbeat.lib.WideMemory
import downbeat.lib.ecc.StateMemory
import downbeat.messages.EventKind
import downbeat.time.NearInstant
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** A segment that is timed. */
case class SendRecord(config: DownbeatConfig) extends Bundle {
  /** One past its last byte. */
  val end = SequenceNumber()
  /** The SFD has been seen at the wire, at `departure`. */
  val departed = Bool()
  val departure = NearInstant(config.roundTripBits)
  /** A full segment. */
  val full = Bool()
}

/** When segments left, until their ACKs come: a side memory of [[SendLog.places]] records for each flow.
  *
  * The end of a segment says its place, so an ACK finds the record of the segment at whose end it stands, and no other.
  * `sent` writes a record unless the place has one that is not acknowledged; `departed` writes its time. So each
  * segment is timed but the second of two that end in the same 2 KiB, or that many places apart.
  *
  * In an inverted pair the half that leaves second is timed: the ACK that advances past the first waits for it.
  *
  * `single`: one segment is timed at a time, and its end is `mark`; `starts`, on step 4, begins with another one.
  */
class SendLog(val view: RecoveryView, pipeline: EnginePipeline, single: Payload[Bool], starts: Payload[Bool])
    extends Area {
  import view._
  import signals._
  private val placeBits = log2Up(SendLog.places(config))
  private val memory = StateMemory(config.ecc, SendRecord(config), config.flows << placeBits)
  memory.addAttribute("no_rw_check") // events of one flow are too far apart to collide
  if ((config.flows << placeBits) > Stage.distributed) WideMemory(memory)

  private val select = new s0.Area {
    private val pairs =
      if (config.policiesPace) before.pairs.any && before.pairs.first.isBefore(UNACKNOWLEDGED) else False
    /** End of the segment that the event is about, unless `single`. */
    val end = insert {
      val end = CombInit[SequenceNumber](UNACKNOWLEDGED)
      when(pairs)(end.value := UNACKNOWLEDGED.value - SEGMENT_SIZE)
      when(KIND === EventKind.departed)(end := SEQUENCE)
      when(KIND === EventKind.sent)(end := event.sentEnd)
      end
    }
    private def placeOf(number: UInt): UInt = number(SendLog.placeShift, placeBits bits)
    val place = insert {
      val place = CombInit(placeOf(end.value))
      when(single && KIND === EventKind.segment)(place := placeOf(before.roundTrip.mark.low))
      place
    }
    val address = FLOW @@ place
  }

  private val record = pipeline.readSide(memory, s0, select.address,
    needed = node => node(event.isSegment) && node(ADVANCED) || node(event.isDeparted)).word

  val found = new s2.Area {
    val isIt = insert(record.end.value === select.end.value)
    val departed = insert(record.departed)
    val full = insert(record.full)
    private val elapsed = STAMP.instant.low(config.roundTripBits).units - record.departure.units
    /** ns since the departure, at most 2^36 - 1. */
    val elapsed36 = insert {
      val bounded = elapsed.resize(36)
      when(elapsed(config.roundTripBits - 1 downto 36).orR)(bounded.setAll())
      bounded
    }
    val distance = insert(record.end.value - UNACKNOWLEDGED.value)
  }

  private val decide = new s3.Area {
    /** The place has the record of another segment in flight. One of an earlier connection has a number that is not. */
    val taken = insert(found.distance.orR && !(OUTSTANDING < found.distance) && !found.isIt)
    val departs = insert(event.isDeparted && found.isIt && !found.departed)
  }

  private val update = new s5.Area {
    private val logs = event.isSent && !RESENT && !AHEAD && Mux[Bool](single, starts, !decide.taken)
    private val written = SendRecord(config)
    written.end := select.end
    written.departed := event.isDeparted
    written.departure := STAMP.instant.low(config.roundTripBits)
    written.full := Mux[Bool](event.isSent, !(LENGTH < SEGMENT_SIZE.resize(32)), found.full)
    pipeline.behind(s5)(memory.write(FLOW @@ select.place, written, isValid && (logs || decide.departs)))
  }
}

object SendLog {
  /** A place is for 2 KiB of a connection's data. */
  val placeShift = 11
  /** Segments of a flow that can be timed at once: fewer where block RAM is for many flows. */
  def places(config: DownbeatConfig): Int =
    (config.sendBufferBytes >> placeShift) min (if (config.flows > 256) 8 else 32)
}
