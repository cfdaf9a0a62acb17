// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.congestion

import downbeat.config.DownbeatConfig
import downbeat.congestion.{Policy, Window}
import spinal.core._

/** The congestion stage's state of a connection. */
case class CongestionState(config: DownbeatConfig) extends Bundle {
  /** cwnd and ssthresh of an established connection. */
  val window = Window()
  /** A policy state for either policy, which begins as the policy's argument. */
  val startupState = Bits(CongestionState.policyStateBits(config.startupPolicies) bits)
  val steadyState = Bits(CongestionState.policyStateBits(config.steadyPolicies) bits)
  /** The policies that the connection chose, by number. The only policy of its kind has none. */
  val startup = (config.startupPolicies.size > 1) generate UInt(config.startup.bits bits)
  val steady = (config.steadyPolicies.size > 1) generate UInt(config.steady.bits bits)
  /** Spacing of segments that the connection was opened with: ns per byte, 32 fraction bits. */
  val spacing = UInt(56 bits)
  /** The initial window, segments. The connection lost its SYN and starts with one (RFC 5681 3.1). */
  val initialWindow = UInt(8 bits)
  val synLost = Bool()
  val growth = GrowthState()
  val calculation = config.policiesCalculate generate CalculationState()
  val flight = config.hostStart generate HostFlightState()

  /** During the handshake, in place of `window`. */
  def handshake: HandshakeWindow = new HandshakeWindow(window)
}

/** Windows and the steady policy's state before the last reduction, for `undone`. Windows in bytes. A word of its own,
  * because few events write it: the others need no choice of what stays.
  */
case class PriorState(config: DownbeatConfig) extends Bundle {
  val cwnd, ssthresh = UInt(31 bits)
  val steadyState = Bits(CongestionState.policyStateBits(config.steadyPolicies) bits)
}

object CongestionState {
  /** The largest policy state of these policies. */
  def policyStateBits(policies: Seq[Policy]): Int = policies.map(_.stateBits).max
}

/** Initial values of a connection, kept in the bits of its window until the handshake is complete. */
class HandshakeWindow(window: Window) {
  /** The initial ssthresh, bytes. */
  def ssthresh: UInt = window.ssthresh(47 downto 16)

  def open(ssthresh: UInt): Unit = {
    window.cwnd := 0
    window.ssthresh := Window.ofBytes(ssthresh)
  }
}
