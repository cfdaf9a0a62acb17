// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.builds.CHeader.{generated, tag}
import downbeat.lib.BundleLayout

/** A member of the C struct `downbeat_event`.
  *
  * @param cType  wide enough for every build, so that the struct does not change with the preset
  * @param source the trace record's field that it copies, by its path
  */
case class EventField(name: String, cType: String, source: String, says: String = "") {
  def bits: Int = cType.filter(_.isDigit).toInt
}

/** The one list of what a program sees of an event: the C struct, the loop that fills it and Python's structure are
  * made from it.
  */
object EventFields {
  val all: Seq[EventField] = Seq(
    EventField("time", "uint64_t", "time_ns", "ns"),
    EventField("flow", "uint32_t", "reference_flow"),
    EventField("generation", "uint32_t", "reference_generation"),
    EventField("kind", "uint8_t", "kind", "downbeat_sim_event_text"),
    EventField("live", "uint8_t", "live", "0: stale, nothing changed"),
    EventField("state", "uint8_t", "state"),
    EventField("reason", "uint8_t", "reason"),
    EventField("congestion_kind", "uint8_t", "congestion_kind", "downbeat_sim_congestion_text; the stage's input"),
    EventField("rtt_valid", "uint8_t", "congestion_rttValid"),
    EventField("uninflated", "uint8_t", "congestion_uninflated", "a loss leaves cwnd = ssthresh"),
    EventField("startup", "uint8_t", "startup", "downbeat_sim_startup_text"),
    EventField("steady", "uint8_t", "steady", "downbeat_sim_steady_text"),
    EventField("sent", "uint8_t", "sent", "this event sent a segment"),
    EventField("retransmission", "uint8_t", "retransmission", "it had been sent before"),
    EventField("requested", "uint8_t", "requested", "a policy has requested a long calculation"),
    EventField("estimates", "uint8_t", "estimates", "the rate estimator has taken its ACK"),
    EventField("inline_updated", "uint8_t", "inline_goes", "inline measurement has received the event"),
    EventField("inline_opens", "uint8_t", "inline_opens", "the event: the connection is new"),
    EventField("inline_forgets", "uint8_t", "inline_forgets", "the event: its probes are forgotten"),
    EventField("inline_completes", "uint8_t", "inline_completes", "the event: a stream has left"),
    EventField("inline_missed", "uint8_t", "inline_missed", "probes that have no ACK of their own"),
    EventField("repeated", "uint8_t", "congestion_repeated", "the ACK repeats a number"),
    EventField("sent_probe", "uint8_t", "congestion_sentProbe", "congestion_kind sent: it was a probe"),
    EventField("sent_ahead", "uint8_t", "congestion_sentAhead", "congestion_kind sent: first half of an inverted pair"),
    EventField("probe_answered", "uint8_t", "congestion_probe_answered", "a probe has its ACK"),
    EventField("probe_begins", "uint8_t", "congestion_probe_begins",
      "it began its train; otherwise the gaps are given"),
    EventField("probe_disturbed", "uint8_t", "congestion_probe_disturbed"),
    EventField("segment_size", "uint16_t", "congestion_segmentSize", "bytes"),
    EventField("sent_length", "uint16_t", "sentLength", "bytes"),
    EventField("acked", "uint32_t", "congestion_ackedBytes", "bytes"),
    EventField("flight", "uint32_t", "congestion_flight", "bytes"),
    EventField("initial_window", "uint32_t", "congestion_initialWindow", "segments"),
    EventField("initial_ssthresh", "uint32_t", "congestion_initialSsthresh", "bytes"),
    EventField("bwe", "uint32_t", "congestion_rates_bwe", "bytes; BWE over the smallest round trip, 0: none yet"),
    EventField("ere", "uint32_t", "congestion_rates_ere", "bytes; ERE over the smallest round trip, 0: none yet"),
    EventField("sliding", "uint32_t", "congestion_rates_sliding", "bytes; likewise ERE by the slides' rule"),
    EventField("capacity", "uint32_t", "congestion_inline_capacity", "bytes/s; measured K, 0: not known"),
    EventField("available", "uint32_t", "congestion_inline_available", "bytes/s; measured A, 0: not known"),
    EventField("arrival", "uint64_t", "congestion_arrival", "ns; the stamp of an ACK's SFD"),
    EventField("rtt", "uint64_t", "congestion_rtt", "ns"),
    EventField("delivery_valid", "uint8_t", "delivery_valid", "the ACK has a sample of the delivery rate"),
    EventField("app_limited", "uint8_t", "delivery_appLimited", "the sample: limited by the application"),
    EventField("cwnd_limited", "uint8_t", "delivery_cwndLimited", "the sample: limited by cwnd"),
    EventField("selective", "uint8_t", "delivery_selective", "the peer sends SACK"),
    EventField("delivered", "uint32_t", "delivery_delivered", "bytes in all"),
    EventField("prior_delivered", "uint32_t", "delivery_priorDelivered", "the sample: bytes when its segment left"),
    EventField("lost", "uint32_t", "delivery_lost", "bytes in all"),
    EventField("prior_lost", "uint32_t", "delivery_priorLost", "the sample: bytes when its segment left"),
    EventField("tx_in_flight", "uint32_t", "delivery_txInFlight", "the sample: bytes when its segment left"),
    EventField("in_flight", "uint32_t", "delivery_inFlight", "bytes after the event"),
    EventField("delivery_interval", "uint64_t", "delivery_interval", "the sample: ns"),
    EventField("departure_gap", "uint64_t", "congestion_probe_departureGap", "ns; of a probe and the one before"),
    EventField("arrival_gap", "uint64_t", "congestion_probe_arrivalGap", "ns; of their ACKs"),
    EventField("probe_round_trip", "uint64_t", "congestion_probe_roundTrip", "ns; from the probe to its ACK"),
    EventField("cwnd", "uint64_t", "window_cwnd", "after the event; bytes, 16 fraction bits"),
    EventField("ssthresh", "uint64_t", "window_ssthresh", "after the event; bytes, 16 fraction bits"),
    EventField("acknowledged", "uint32_t", "acknowledged_value", "SND.UNA"),
    EventField("next_send", "uint32_t", "nextSend_value", "SND.NXT"),
    EventField("highest_sent", "uint32_t", "highestSent_value", "SND.MAX"),
    EventField("host_window", "uint16_t", "hostWindow", "segments; a start of the host's sets cwnd, 0: none"),
    EventField("host_expired", "uint8_t", "hostExpired", "a start of the host's is too old"),
    EventField("rtt_full", "uint8_t", "congestion_rttFull", "the round-trip sample is that of a full segment"),
    EventField("rtt_first", "uint8_t", "congestion_rttFirst", "it is the first of its round trip"),
    EventField("growth_limited", "uint8_t", "growthLimited", "a window that is not used is bounded"),
    EventField("retreats", "uint8_t", "retreats", "the start-up policy gives up a window that was not safe"),
    EventField("recovering", "uint8_t", "congestion_recovering", "a loss is being repaired"),
    EventField("send_window", "uint32_t", "sendWindow", "bytes"),
    EventField("received", "uint32_t", "received_value", "RCV.NXT"),
    EventField("sent_sequence", "uint32_t", "sentSequence_value"))

  /** A field that the record lacks, or that does not fit its C type, is refused. */
  def check(record: BundleLayout): Unit = for (field <- all) {
    val source = record.fields.find(_.name == field.source)
    require(source.nonEmpty, s"EventFields: no '${field.source}' in ${record.name}")
    require(source.get.width <= field.bits,
      s"EventFields: ${field.source} has ${source.get.width} bits, ${field.cType} is too small")
  }

  /** downbeat_event.h: the struct, and `DOWNBEAT_EVENT_FIELDS(each)`, which calls each(member, field of the record). */
  def header: String = {
    val members = all.map { field =>
      val says = if (field.says.isEmpty) "" else s" /* ${field.says} */"
      s"  ${field.cType} ${field.name};$says"
    }
    val each = all.map(field => s"  each(${field.name}, ${field.source})").mkString(" \\\n")
    CHeader("DOWNBEAT_EVENT_H",
      Seq("#include <stdint.h>", "",
        "/** One event of the flow engine and what it did: the trace port's record, in the engine's order. */",
        "typedef struct downbeat_event {") ++
        members ++ Seq("} downbeat_event;", "", "#define DOWNBEAT_EVENT_FIELDS(each) \\", each))
  }

  /** event_fields.py: names and ctypes types of the same members. */
  def python: String = {
    val members = all.map(field => s"""    ("${field.name}", c_${field.cType.stripSuffix("_t")}),""")
    val types = all.map(field => s"c_${field.cType.stripSuffix("_t")}").distinct.sortBy(_.filter(_.isDigit).toInt)
    val lines = Seq(s"# $tag", s""""\"\"Members of the C struct downbeat_event. $generated"\"\"""", "",
      "from __future__ import annotations", "",
      s"from ctypes import ${types.mkString(", ")}", "", "EVENT_FIELDS = (") ++ members :+ ")"
    CHeader.text(lines)
  }
}
