// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.config

import downbeat.congestion.{Calculator, EngineSizes, PolicySet, StartupPolicy, SteadyPolicy}
import downbeat.time.Instant
import spinal.core._
import spinal.lib.bus.amba4.axi.Axi4Config

/** The one configuration of a build. Immutable; every width in the core derives from it.
  *
  * @param flows              connections at once; a power of two, 4 to 65,536 (more than 1,024 are for simulation)
  * @param listeners          TCP ports that can listen at once
  * @param sendBufferBytes    unacknowledged and unsent data per flow; a power of two, 4 KiB to 16 MiB
  * @param receiveBufferBytes received data per flow not yet read; a power of two, 4 KiB to 16 MiB
  * @param beatBytes          width of all streams of frames and payload and of the payload memory, bytes: 8, 16, 32 or 64
  * @param maximumFrameBytes  largest Ethernet frame with its FCS, 1,518 to 9,018
  * @param payloadSlots       received frames whose payload waits for a verdict; a power of two
  * @param assumedPeerMss     MSS in bytes for a peer that sends no MSS option (RFC 9293 3.7.1 says 536)
  * @param minimumRto         floor of the retransmission timeout (RFC 6298 2.4 says 1 s)
  * @param maximumRto         its ceiling (RFC 6298 2.5 allows 60 s and more)
  * @param retransmissions    unanswered expiries in a row after which a connection is given up (RFC 9293 R2)
  * @param timeWait           2 MSL
  * @param timeWaits          connections in TIME-WAIT that no flow holds; a power of two, 2 to 65,536
  * @param closedTimeout      time without progress after which a connection that the application has closed is given
  *                           up (RFC 9293 3.8.3, R2: at least 100 s); TIME-WAIT's time holds in FIN-WAIT-2
  * @param delayedAck         the longest that data waits for its ACK (RFC 9293 3.8.6.3: less than 0.5 s)
  * @param grantLead          how long before its departure a segment is granted, so that its fetch is hidden
  * @param startup            start-up policies of this build
  * @param steady             steady policies of this build
  * @param logRecords         events of which the register map keeps a record, besides the last one of each flow; 0: it
  *                           keeps none of either
  * @param timeControl        registers set, discipline and compare the time of a MAC; otherwise it counts from reset
  *                           on, and they show it
  * @param externalMemory     payload memory is outside, at AXI4 ports `m_axi_*`; otherwise block RAM inside
  * @param hostPorts          programs of a host that share the core, each with rings and doorbells of its own
  *                           (docs/reference/host-interface.md), 2 to 14; 0: there is no host interface
  * @param hostStart          the application may tell a connection its initial window, ssthresh and pace, as it opens
  *                           or while nothing is in flight ([[downbeat.messages.HostStart]])
  * @param pathReports        each connection reports what it has learned of its path
  *                           ([[downbeat.messages.PathReport]])
  * @param vlans              802.1Q VLANs that the core may belong to besides the untagged network, 0 to 7; which,
  *                           is set at run time ([[downbeat.messages.Vlan]]). Frames of others take the bypass
  * @param ecc                memories of flows' state correct a flipped bit of a word; two flips end the connection
  * @param eventSpacing       clocks from one event of the engine to the next: 1, or `flowSpacing` for an engine of half
  *                           the registers
  * @param counterBits        of each counter at the core's and the MAC's ports; a register map adds up what they have
  *                           risen by
  * @param clock              the core's clock; nothing counts it, programs read it
  * @param xgmii              the MAC beside the core is of 10 Gb/s; otherwise it is of 1 Gb/s, with GMII
  * @param deficitIdle        at 10 Gb/s gaps are twelve bytes on average and nine at least; otherwise twelve at least
  * @param stageCounters      adds to each engine stage a count of its events per flow, for the lost-update test
  */
case class DownbeatConfig(
    flows: Int = 16,
    listeners: Int = 4,
    sendBufferBytes: Int = 64 * 1024,
    receiveBufferBytes: Int = 64 * 1024,
    beatBytes: Int = 8,
    maximumFrameBytes: Int = 1518,
    payloadSlots: Int = 8,
    assumedPeerMss: Int = 536,
    minimumRto: TimeNumber = 1 sec,
    maximumRto: TimeNumber = 60 sec,
    retransmissions: Int = 15,
    timeWait: TimeNumber = 60 sec,
    timeWaits: Int = 1024,
    closedTimeout: TimeNumber = 100 sec,
    delayedAck: TimeNumber = 40 ms,
    grantLead: TimeNumber = 4 us,
    startup: PolicySet[StartupPolicy],
    steady: PolicySet[SteadyPolicy],
    logRecords: Int = 256,
    timeControl: Boolean = true,
    externalMemory: Boolean = false,
    hostPorts: Int = 0,
    hostStart: Boolean = false,
    pathReports: Boolean = false,
    vlans: Int = 0,
    ecc: Boolean = false,
    eventSpacing: Int = 1,
    counterBits: Int = 32,
    clock: HertzNumber = 125 MHz,
    xgmii: Boolean = false,
    deficitIdle: Boolean = true,
    stageCounters: Boolean = false) extends EngineSizes {
  require(isPow2(flows) && flows >= 4 && flows <= 65536, s"flows = $flows: use a power of two, 4 to 65536")
  for ((name, size) <- Seq("sendBufferBytes" -> sendBufferBytes, "receiveBufferBytes" -> receiveBufferBytes))
    require(isPow2(size) && size >= 4096 && size <= (1 << 24), s"$name = $size: use a power of two, 4 KiB to 16 MiB")
  require(Seq(8, 16, 32, 64).contains(beatBytes), s"beatBytes = $beatBytes: use 8, 16, 32 or 64")
  require(maximumFrameBytes >= 1518 && maximumFrameBytes <= 9018,
    s"maximumFrameBytes = $maximumFrameBytes: use 1518 to 9018")
  require(isPow2(payloadSlots) && payloadSlots >= 2, s"payloadSlots = $payloadSlots: use a power of two from 2")
  require(isPow2(timeWaits) && timeWaits >= 2 && timeWaits <= 65536,
    s"timeWaits = $timeWaits: use a power of two, 2 to 65536")
  require(closedTimeout > (0 sec) && closedTimeout < (70000 sec), s"closedTimeout = $closedTimeout: use 1 s to 70000 s")
  require(delayedAck < (500 ms), s"delayedAck = $delayedAck: RFC 9293 3.8.6.3 wants less than 500 ms")
  require(logRecords == 0 || isPow2(logRecords), s"logRecords = $logRecords: use a power of two, or 0")
  require(hostPorts != 1 && hostPorts >= 0 && hostPorts <= 14, s"hostPorts = $hostPorts: use 2 to 14, or 0")
  require(hostPorts == 0 || externalMemory, "hostPorts: the payload memory is the host's, set externalMemory")
  require(vlans >= 0 && vlans <= 7, s"vlans = $vlans: use 0 to 7")

  /** The same with these policies alone. */
  def having(startupNames: String*)(steadyNames: String*): DownbeatConfig =
    copy(startup = startup.only(startupNames), steady = steady.only(steadyNames))

  /** Bits of a beat, and of a byte's place in it. */
  val beatBits: Int = 8 * beatBytes
  val beatByteBits: Int = log2Up(beatBytes)
  val flowBits: Int = log2Up(flows)
  val timeWaitBits: Int = log2Up(timeWaits)
  /** Connections that have lived on a flow, modulo 2^8: what marks a returning event as stale. */
  val generationBits: Int = 8
  /** MTU without Ethernet header and FCS; the MSS that we announce is 40 bytes less. */
  val mtu: Int = maximumFrameBytes - 18
  val ownMss: Int = mtu - 40
  /** Width of a segment's payload length in bytes. */
  val segmentBits: Int = log2Up(ownMss + 1)
  /** RFC 7323: the smallest shift with which 16 bits can announce the whole receive buffer. */
  val receiveWindowScale: Int = (0 to 14).find(shift => (65535L << shift) >= receiveBufferBytes).get
  val slotBits: Int = log2Up(payloadSlots)
  /** A slot holds a whole frame, headers and all, without its FCS. */
  val slotBytes: Int = 1 << log2Up(maximumFrameBytes)
  val slotBeatBits: Int = log2Up(slotBytes / beatBytes)
  /** Width of a received frame's length in bytes, and more than any slot holds. */
  val frameByteBits: Int = log2Up(slotBytes) + 1
  /** Engine: events of one flow are at least this many clocks apart (a stage's read-modify-write). */
  val flowSpacing: Int = 8
  require(eventSpacing == 1 || eventSpacing == flowSpacing, s"eventSpacing = $eventSpacing: use 1 or $flowSpacing")

  /** Bytes from a cumulative point to the end of a buffer, and to one past it. */
  val sendOffsetBits: Int = log2Up(sendBufferBytes) + 1
  val receiveOffsetBits: Int = log2Up(receiveBufferBytes) + 1

  /** Low bits by which a connection keeps numbers of what it sends, none further from SND.UNA than the buffer's end;
    * and of what it receives, each of which is compared with numbers that a frame before RCV.NXT or a window behind it
    * may have.
    */
  val sendNumberBits: Int = sendOffsetBits + 1
  val receiveNumberBits: Int = (receiveOffsetBits max log2Up(maximumFrameBytes) + 1) + 1
  /** Width of sequence numbers of data in the receive buffer, ends included: they are compared with each other and
    * against RCV.NXT alone.
    */
  val placedNumberBits: Int = receiveOffsetBits + 1
  /** RCV.UP is up to 65,535 bytes behind a segment in the window, and compared with another such and against what has
    * been read.
    */
  val urgentNumberBits: Int = log2Up(2 * receiveBufferBytes + 65536 + 2 * maximumFrameBytes) + 1

  /** Low bits by which it keeps when its timers expire, in whole units of 2^deadlineUnit ns (65.5 us) and never early;
    * and since when a round trip is timed, for which a timeout may be waited.
    */
  val deadlineUnit: Int = 16
  val deadlineBits: Int =
    log2Up(Seq(maximumRto, timeWait, delayedAck).map(Instant.nanoseconds).max + (1 << deadlineUnit)) + 1
  val roundTripBits: Int = (log2Up(Instant.nanoseconds(maximumRto)) max 36) + 2 // a sample ends at 2^36 ns

  /** Bytes that are outstanding and not in the network: at most a buffer, or two segments. */
  val windowAllowanceBits: Int = (sendOffsetBits max 17) + 1

  val startupPolicies: Seq[StartupPolicy] = startup.present
  val steadyPolicies: Seq[SteadyPolicy] = steady.present
  private val policies = startupPolicies ++ steadyPolicies
  /** Bits that a connection may tell its policies when it opens. */
  val startupArgumentBits: Int = startupPolicies.map(_.argumentBits).max max 1
  val steadyArgumentBits: Int = steadyPolicies.map(_.argumentBits).max max 1
  /** A connection has something to choose. */
  val policiesChoose: Boolean =
    startupPolicies.size > 1 || steadyPolicies.size > 1 || policies.exists(_.argumentBits > 0)
  /** Some policy reads the connection's estimated rates. */
  val policiesEstimate: Boolean = policies.exists(_.estimatesRates)
  /** Some policy reads samples of the delivery rate. */
  val policiesSample: Boolean = policies.exists(_.samplesDelivery)
  /** Some policy has the path measured by streams of its probes. */
  val policiesMeasure: Boolean = policies.exists(_.measuresInline)
  require(policies.forall(policy => policy.paces || !policy.measuresInline),
    "a policy that measures inline sends probes")
  /** Some policy says how segments leave. */
  val policiesPace: Boolean = policies.exists(_.paces)
  /** Some start-up policy bounds what a loss leaves. */
  val policiesBound: Boolean = startupPolicies.exists(_.bounds)
  /** Calculators beside the engine that the build's policies use, those that share a unit last. */
  val calculators: Seq[Calculator] = policies.flatMap(_.calculator).distinct.sortBy(_.shares)
  val policiesCalculate: Boolean = calculators.nonEmpty
  val requestBits: Int = calculators.map(_.requestBits).foldLeft(0)(_ max _)

  /** The start-up policy that replaces a start of the host that is too old. */
  val standardStartup: Option[Int] = startup.numberOf("standard")
  require(!hostStart || standardStartup.nonEmpty && policiesChoose && policiesPace,
    s"hostStart needs the policy standard and one that paces: ${(startup.all ++ steady.all).filter(_.paces).map(
        _.name).mkString(", ")}")

  /** Width of the owner of a connection or listener: 0 is the application in the fabric, p + 1 the host's port p. */
  val ownerBits: Int = log2Up(hostPorts + 1)

  /** Width of a VLAN's number: 0 is the untagged network. */
  val vlanBits: Int = log2Up(vlans + 1)

  /** Payload memory: all send buffers, then all receive buffers; one AXI4 port, a beat wide. */
  val receiveBase: Long = flows.toLong * sendBufferBytes max flows.toLong * receiveBufferBytes
  val memoryBytes: Long = 2 * receiveBase
  val memory: Axi4Config = Axi4Config(
    addressWidth = log2Up(memoryBytes), dataWidth = beatBits, idWidth = 2,
    useRegion = false, useLock = false, useCache = false, useQos = false, useProt = false)
}

object DownbeatConfig {
  /** Ranges beyond the cumulative point that a connection keeps, each way. */
  val ranges = 4
}
