// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import spinal.core._

/** Parameters of a connection, which the open or listen command sets. */
case class ConnectionParameters(config: DownbeatConfig) extends Bundle {
  val startup = UInt(config.startup.bits bits)
  val steady = UInt(config.steady.bits bits)
  val initialWindow = UInt(8 bits) // segments
  val ssthresh = UInt(32 bits) // bytes
  /** Arguments of the policies; each policy's file says what the bits mean. */
  val startupArgument = Bits(config.startupArgumentBits bits)
  val steadyArgument = Bits(config.steadyArgumentBits bits)
  val spacing = UInt(56 bits) // ns per byte, 32 fraction bits; zero: not paced
  /** Small segments go at once, whether or not data is outstanding (no Nagle algorithm, RFC 9293 3.7.4). */
  val noDelay = Bool()
  /** The congestion window stays after idleness (no slow-start restart, RFC 5681 4.1). */
  val nssr = Bool()
  /** Without SACK, fast recovery is Reno's: the first ACK of new data ends it (RFC 5681 3.2). Otherwise it is NewReno's
    * (RFC 6582).
    */
  val renoRecovery = Bool()
  val recovery = RecoveryChoice()
  /** ECN is asked for, or granted to a peer that asks (RFC 3168 6.1.1). */
  val ecn = Bool()
  /** Time without a segment after which the peer is asked whether it lives (RFC 9293 3.8.4), in units of 2^30 ns (1.07
    * s); zero: never.
    */
  val keepAlive = UInt(16 bits)
  /** Time without progress after which the connection is given up (RFC 9293 3.8.3), in the same units; zero: when the
    * expiries have run out.
    */
  val userTimeout = UInt(16 bits)
  val service = ServiceParameters()
  /** The host's start values, from its knowledge of the path. A listener has none. */
  val start = config.hostStart generate HostStart()
  /** Owner of the connection; the core sets it, not the command. */
  val owner = (config.hostPorts > 0) generate UInt(config.ownerBits bits)
}

/** The parts of recovery that a connection goes without. */
case class RecoveryChoice() extends Bundle {
  /** The probe of a lost tail (RFC 8985 7). */
  val noTailLossProbe = Bool()
  /** Losses by time in place of a number of segments (RFC 8985 6). */
  val noRack = Bool()
  /** The return of a window that was reduced for no loss (RFC 4015, RFC 3708). */
  val noUndo = Bool()
  /** Sending in recovery by the bytes delivered (RFC 9937). */
  val noPrr = Bool()
  /** The bound of a window that is not used (draft-ietf-ccwg-ratelimited-increase). */
  val noGrowthLimit = Bool()
}

/** The fields of the IP header that a connection chooses, besides its addresses. */
case class ServiceParameters() extends Bundle {
  /** Differentiated services field (RFC 2474), without the two bits of ECN. */
  val differentiatedServices = UInt(6 bits)
  /** Hops; zero: 64, as of whatever belongs to no connection. */
  val timeToLive = UInt(8 bits)

  /** With the number of hops that zero stands for. */
  def completed: ServiceParameters = {
    val complete = CombInit(this).allowOverride()
    when(timeToLive === 0)(complete.timeToLive := ServiceParameters.usualTimeToLive)
    complete
  }
}

object ServiceParameters {
  val usualTimeToLive = 64

  /** Parameters of a segment that belongs to no connection. */
  def usual: ServiceParameters = {
    val parameters = ServiceParameters()
    parameters.differentiatedServices := 0
    parameters.timeToLive := usualTimeToLive
    parameters
  }
}
