// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._

/** Received frames by what became of them: each is counted once, by the first cause in this order. */
case class ReceiveCounters() extends Bundle {
  /** Handed to the core. */
  val frames = UInt(32 bits)
  /** Began while the link was down. */
  val linkDown = UInt(32 bits)
  /** RX_ER in the frame or its preamble. */
  val rxError = UInt(32 bits)
  /** Below 64 bytes with FCS. */
  val runt = UInt(32 bits)
  /** Above the build's maximum (four bytes more with an 802.1Q tag). */
  val oversize = UInt(32 bits)
  val badFcs = UInt(32 bits)
  /** MAC control, which is not obeyed. */
  val pause = UInt(32 bits)
  /** The core's side had no room for the whole of it. */
  val overflow = UInt(32 bits)
  /** Good, but a soft reset came before the core had it. */
  val reset = UInt(32 bits)
}

/** Frames to send by what became of them. */
case class TransmitCounters() extends Bundle {
  /** Left: their SFD is or soon will be on the wire. */
  val frames = UInt(32 bits)
  val oversize = UInt(32 bits)
  /** Were at the gate while the link was down. */
  val linkDown = UInt(32 bits)
  /** Were at the gate, or came, during a soft reset. */
  val reset = UInt(32 bits)
  /** Left, but after the first byte time at or after their launch time, because they came to the gate too late for it ... */
  val lateArrived = UInt(32 bits)
  /** ... or in time, but behind a frame whose launch time is later ... */
  val lateInverted = UInt(32 bits)
  /** ... or in time and in order, but an earlier frame still held the wire. */
  val lateBusy = UInt(32 bits)
  /** Of all these the longest time from launch to SFD, ns; all ones: that or more. */
  val worstLateness = UInt(32 bits)
}

/** 32 bits each, since `reset`; counts wrap, and a soft reset leaves all. */
case class MacCounters() extends Bundle {
  val receive = ReceiveCounters()
  val transmit = TransmitCounters()
}
