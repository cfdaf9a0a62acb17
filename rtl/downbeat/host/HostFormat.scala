// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.lib.EnumLayout
import downbeat.messages.{CloseReason, PathPhase, StartPace, TcpState}
import spinal.core._

/** Opcodes of the command ring. */
object HostOpcode extends SpinalEnum {
  /** An entry that was never written: refused. */
  val none = newElement()
  val open, listen, unlisten, shutdown, close, abort, setPolicies = newElement()
  /** Values of the host for a connection with nothing in flight. */
  val start = newElement()
  /** From now on each segment of the connection has a notification of kind `stamp`. */
  val stamps = newElement()
  /** Other times for a connection. */
  val setTimes = newElement()
}

object HostNotificationKind extends SpinalEnum {
  val none = newElement()
  /** The newest state of a connection. */
  val status = newElement()
  /** A command is done (reason `none`) or refused. */
  val response = newElement()
  /** The host wrote a value that cannot be. */
  val error = newElement()
  /** A connection's measurements of its path. */
  val pathReport = newElement()
  /** The time at which a segment's frame left or came. */
  val stamp = newElement()
}

/** Why a value of the host was refused. */
object HostError extends SpinalEnum {
  val none = newElement()
  /** No such command in this build. */
  val opcode = newElement()
  /** A reserved bit is set. */
  val reserved = newElement()
  /** The value of a field does not fit this build. */
  val field = newElement()
  /** No such flow. */
  val flow = newElement()
  /** There is no connection on it that the host knows of, or the host has closed it. */
  val notOpen = newElement()
  /** It belongs to another port. */
  val owner = newElement()
  /** It has another connection by now. */
  val generation = newElement()
  /** Before what was said already. */
  val backwards = newElement()
  /** More than the ring holds, than was received, than was written. */
  val beyond = newElement()
  /** Data behind a shutdown. */
  val shutDown = newElement()
}

/** Source of a refused value. */
object HostSource extends SpinalEnum {
  val command, written, consumed, commandTail, notificationHead, notificationHeadArm = newElement()
}

/** A field of an entry in a ring, or a register: little-endian.
  *
  * @param offset bytes
  * @param meant  bits of it that may be set; the others must be zero
  */
case class HostField(name: String, offset: Int, bits: Int, says: String, meant: Int = 0, access: String = "") {
  val usedBits: Int = if (meant == 0) bits else meant
}

/** Format of the host interface: the one source of the RTL, the C header, the page and the tests.
  *
  * A new number means that an old driver must refuse the core.
  */
object HostFormat {
  val number = 1
  val commandBytes = 128
  val notificationBytes = 64
  val pageBytes = 4096
  /** Rings have 2^1 to 2^15 entries and begin at multiples of a page. */
  val largestSizeLog2 = 15
  /** Numbers of the pages; page 0 is the core's registers. */
  val setUpPage = 1
  val firstDoorbellPage = 2
  /** In the set-up page: blocks of the ports. */
  val firstPortBlock = 0x100
  val portBlockBytes = 0x40

  val command: Seq[HostField] = Seq(
    HostField("opcode", 0, 8, "HostOpcode"),
    HostField("options", 1, 8, "open, listen: HostCommandOption"),
    HostField("request", 2, 16, "comes back in the response to the command"),
    HostField("flow", 4, 16, "all but open, listen, unlisten"),
    HostField("generation", 6, 8, "all but open, listen, unlisten"),
    HostField("noPrr", 7, 8, "open, listen: 1: no PRR", meant = 1),
    HostField("remoteIp", 8, 32, "open; first byte of the wire highest"),
    HostField("remotePort", 12, 16, "open"),
    HostField("localPort", 14, 16, "open (0: an ephemeral one), listen, unlisten"),
    HostField("startup", 16, 8, "open, listen, setPolicies, start: number of the policy"),
    HostField("steady", 17, 8, "open, listen, setPolicies, start: number of the policy"),
    HostField("initialWindow", 18, 16, "open, listen: segments, at most 255"),
    HostField("ssthresh", 20, 32, "open, listen, start: bytes"),
    HostField("startupArgument", 24, 128, "open, listen, setPolicies, start"),
    HostField("steadyArgument", 40, 128, "open, listen, setPolicies, start"),
    HostField("spacing", 56, 64, "open, listen: ns per byte, 32 fraction bits", meant = 56),
    HostField("keepAlive", 64, 16, "open, listen, setTimes: 2^30 ns"),
    HostField("userTimeout", 66, 16, "open, listen, setTimes: 2^30 ns"),
    HostField("differentiatedServices", 68, 8, "open, listen", meant = 6),
    HostField("timeToLive", 69, 8, "open, listen; 0: 64"),
    HostField("pace", 70, 8, "open, start: HostStartPace", meant = 2),
    HostField("paceGap", 72, 64, "open, start: ns between segments, 16 fraction bits"),
    HostField("validUntil", 80, 64, "open, start: until when the host's values hold, ns; 0: always", meant = 48),
    HostField("startWindow", 88, 16, "open, start: segments; 0: the connection's initial window"),
    HostField("roundTrip", 96, 64, "open, start: the path's, ns, for the first RTO; 0: not known", meant = 36))

  val notification: Seq[HostField] = Seq(
    HostField("kind", 0, 8, "HostNotificationKind"),
    HostField("reason", 1, 8, "status, response: CloseReason; error: HostError"),
    HostField("request", 2, 16, "of the command; status of an accepted connection: 0"),
    HostField("flow", 4, 16, "status, error, pathReport, stamp"),
    HostField("generation", 6, 8, "status, error, pathReport, stamp"),
    HostField("state", 7, 8, "status: TcpState; error: HostSource"),
    HostField("acknowledged", 8, 32, "status: the send ring holds [acknowledged, written)"),
    HostField("written", 12, 32, "status"),
    HostField("consumed", 16, 32, "status: the receive ring holds [consumed, received)"),
    HostField("received", 20, 32, "status; with peerFinished one more than the last byte's end"),
    HostField("urgentEnd", 24, 32, "status"),
    HostField("flags", 28, 8, "status: HostStatusFlag"),
    HostField("errorKind", 29, 8, "status: NetworkErrorKind of the last ICMP error"),
    HostField("errorCode", 30, 8, "status: its code"),
    HostField("errorCount", 31, 8, "status: ICMP errors, modulo 4"),
    HostField("remoteIp", 32, 32, "status"),
    HostField("remotePort", 36, 16, "status"),
    HostField("localPort", 38, 16, "status"),
    HostField("time", 40, 48, "ns: when it was composed"),
    HostField("value", 48, 32, "error: the refused number; of a command: its index"),
    HostField("errorsUnreported", 52, 32, "errors of the port so far that no notification reported"),
    HostField("commandHead", 56, 32, "commands of the port that are done; not in a pathReport"),
    HostField("phase", 63, 8, "1 in the first lap of the ring, 0 in the second, and so on"))

  /** An entry of kind `pathReport`: its own fields, at the places of others, beside kind, flow, generation, time and
    * phase.
    */
  val pathReport: Seq[HostField] = Seq(
    HostField("state", 1, 8, "bits 1 to 0 HostPathPhase, 2 lossInAvoidance, 3 closed: the last report, 7 to 4 growth"),
    HostField("losses", 2, 8, "loss events so far"),
    HostField("restarts", 3, 8, "restarts after idleness so far"),
    HostField("retreats", 7, 8, "safe retreats of the start-up policy so far"),
    HostField("cwnd", 8, 32, "bytes; in recovery ssthresh"),
    HostField("ssthresh", 12, 32, "bytes"),
    HostField("smoothedRtt", 16, 40, "ns; 0: none yet"),
    HostField("smallestRtt", 21, 40, "ns; 0: none yet"),
    HostField("averageWindow", 26, 48, "bytes, 16 fraction bits"),
    HostField("lossTime", 32, 48, "ns, of the last loss event"),
    HostField("segmentSize", 38, 16, "bytes"),
    HostField("time", 40, 48, "ns: of this state"),
    HostField("lossWindow", 46, 32, "bytes: cwnd just before the last loss event"),
    HostField("acked", 50, 48, "bytes acknowledged so far"),
    HostField("rttVariation", 56, 32, "RTTVAR, ns; all ones: that or more"),
    HostField("acks", 60, 24, "ACKs of new data so far"))

  /** An entry of kind `stamp`, beside kind, flow, generation, time, commandHead and phase. */
  val stamp: Seq[HostField] = Seq(
    HostField("received", 7, 8, "1: the peer's segment; 0: one of ours"),
    HostField("end", 8, 32, "one past the segment's last sequence number"),
    HostField("dropped", 12, 32, "stamps since the port started for which there was no space"),
    HostField("sfd", 16, 64, "time of the frame's SFD: ns, 16 fraction bits"))

  val setUp: Seq[HostField] = Seq(
    HostField("hostPorts", 0x000, 32, "Ports of this build.", access = "RO"),
    HostField("hostFormat", 0x004, 32, "Number of this format; a driver of another one must refuse the core.",
      access = "RO"),
    HostField("formatHash", 0x008, 32, "CRC-32 of the format's tables, as in the header.", access = "RO"),
    HostField("policyHash", 0x00c, 32, "CRC-32 of the policies of this build: names, numbers, arguments.",
      access = "RO"),
    HostField("payloadBaseLow", 0x010, 32,
      "Address of the payload memory, a multiple of its size; taken over in reset.", access = "RW"),
    HostField("payloadBaseHigh", 0x014, 32, "Bits 63 to 32.", access = "RW"),
    HostField("interrupts", 0x018, 32, "Bit p: the interrupt of port p is raised.", access = "RO"))

  /** Offsets from the begin of a port's block. */
  val port: Seq[HostField] = Seq(
    HostField("control", 0x00, 32, "Bit 0 enable: 1 starts the port, 0 stops it.", access = "RW"),
    HostField("status", 0x04, 32,
      "HostPortStatus; refused: rings that cannot be; stopped: the memory refused a ring's access, or did not answer it.",
      access = "RO"),
    HostField("commandBaseLow", 0x08, 32, "Address of the command ring, a multiple of 4096.", access = "RW"),
    HostField("commandBaseHigh", 0x0c, 32, "Bits 63 to 32.", access = "RW"),
    HostField("commandSizeLog2", 0x10, 32, "It has 2^n entries, n = 1 to 15.", access = "RW"),
    HostField("notificationBaseLow", 0x14, 32, "Address of the notification ring, a multiple of 4096.", access = "RW"),
    HostField("notificationBaseHigh", 0x18, 32, "Bits 63 to 32.", access = "RW"),
    HostField("notificationSizeLog2", 0x1c, 32, "It has 2^n entries, n = 1 to 15.", access = "RW"),
    HostField("holdOff", 0x20, 32, "ns between two interrupts at least.", access = "RW"),
    HostField("errors", 0x24, 32, "Values of this port that were refused, modulo 2^32.", access = "RO"),
    HostField("errorsUnreported", 0x28, 32, "Those for which there was no space to tell.", access = "RO"))

  val doorbells: Seq[HostField] = Seq(
    HostField("writtenSequence", 0x00, 32, "Of the next `writtenFlow`: one past the last byte in the send ring.",
      access = "WO"),
    HostField("writtenFlow", 0x04, 32,
      "Flow in bits 15 to 0, generation 23 to 16, bit 24: the last byte is urgent. Rings: the bytes are written.",
      meant = 25, access = "WO"),
    HostField("consumedSequence", 0x08, 32, "Of the next `consumedFlow`: one past the last byte that was read.",
      access = "WO"),
    HostField("consumedFlow", 0x0c, 32, "Flow, generation, as `writtenFlow`. Rings: the bytes are read.", meant = 24,
      access = "WO"),
    HostField("commandTail", 0x10, 32, "Index of the first command that is not written yet.", access = "WO"),
    HostField("notificationHead", 0x14, 32, "Index of the first notification that is not read yet.", access = "WO"),
    HostField("notificationHeadArm", 0x18, 32, "The same, with a request for an interrupt.", access = "WO"),
    HostField("commandHead", 0x20, 32, "Commands that are done.", access = "RO"),
    HostField("notificationTail", 0x24, 32, "Notifications that are in memory.", access = "RO"))

  /** With those of the core that entries carry. */
  val enums: Seq[EnumLayout] =
    Seq(HostOpcode, HostNotificationKind, HostError, HostSource).map(EnumLayout.of) ++
      Seq(CloseReason, TcpState, StartPace, PathPhase).map(EnumLayout.of(_))
        .map(core => core.copy(name = s"Host${core.name}"))

  /** Bits by name, the lowest first: of a command's `options`, a status's `flags`, a port's `status`. */
  val commandOptions: EnumLayout = EnumLayout("HostCommandOption",
    Seq("noDelay", "nssr", "ecn", "renoRecovery", "noTailLossProbe", "noRack", "noUndo", "noGrowthLimit"))
  val statusFlags: EnumLayout = EnumLayout("HostStatusFlag", Seq("passive", "peerFinished", "urgent", "struggling"))
  val portStatus: EnumLayout = EnumLayout("HostPortStatus", Seq("running", "refused", "stopped"))
  val bitSets: Seq[EnumLayout] = Seq(commandOptions, statusFlags, portStatus)

  /** Bits of a set in their places. */
  def pack(set: EnumLayout)(values: (String, Bool)*): Bits = {
    require(values.map(_._1).toSet == set.elements.toSet, s"${set.name}: ${set.elements.mkString(", ")} are wanted")
    B(set.elements.map(values.toMap))
  }

  for ((name, fields, bytes) <- Seq(("command", command, commandBytes),
      ("notification", notification, notificationBytes), ("pathReport", pathReport, notificationBytes),
      ("stamp", stamp, notificationBytes))) {
    for ((one, next) <- fields.zip(fields.tail))
      require(one.offset * 8 + one.bits <= next.offset * 8, s"$name: ${one.name} reaches into ${next.name}")
    require(fields.last.offset * 8 + fields.last.bits <= bytes * 8, s"$name: ${fields.last.name} is outside")
  }

  def field(fields: Seq[HostField], name: String): HostField =
    fields.find(_.name == name).getOrElse(throw new IllegalArgumentException(s"no field $name"))

  /** A field of an entry. */
  def read(fields: Seq[HostField], entry: Bits, name: String): Bits = {
    val place = field(fields, name)
    entry(place.offset * 8, place.usedBits bits)
  }

  /** Bits of an entry that no field has, or that a field may not use. */
  def reserved(fields: Seq[HostField], bytes: Int): BigInt = {
    val used = fields.map(field => ((BigInt(1) << field.usedBits) - 1) << (field.offset * 8)).fold(BigInt(0))(_ | _)
    (BigInt(1) << (bytes * 8)) - 1 - used
  }
}
