// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._

/** Received frames, by what became of them. A frame is counted once, at the first cause in this order. */
case class ReceiveCounters(bits: Int) extends Bundle {
  /** Handed to the core. */
  val frames = UInt(bits bits)
  /** Began while the link was down. */
  val linkDown = UInt(bits bits)
  /** RX_ER in the frame or its preamble; on XGMII an error, or an end by another character than terminate. */
  val rxError = UInt(bits bits)
  /** Below 64 bytes with FCS. */
  val runt = UInt(bits bits)
  /** Above the build's maximum (four bytes more with an 802.1Q tag). */
  val oversize = UInt(bits bits)
  val badFcs = UInt(bits bits)
  /** MAC control, which is not obeyed. */
  val pause = UInt(bits bits)
  /** The core's side had no space for the whole of it. */
  val overflow = UInt(bits bits)
  /** Good, but a soft reset came before the core had it. */
  val reset = UInt(bits bits)
}

/** Frames to send by what became of them. */
case class TransmitCounters(bits: Int) extends Bundle {
  /** Left: their SFD is or soon will be on the wire. */
  val frames = UInt(bits bits)
  val oversize = UInt(bits bits)
  /** Were at the gate while the link was down. */
  val linkDown = UInt(bits bits)
  /** Were at the gate, or came, during a soft reset. */
  val reset = UInt(bits bits)
  /** Left, but after the first byte time at or after their launch time, because they came to the gate too late for it
    * ...
    */
  val lateArrived = UInt(bits bits)
  /** ... or in time, but behind a frame whose launch time is later ... */
  val lateInverted = UInt(bits bits)
  /** ... or in time and in order, but an earlier frame still held the wire. */
  val lateBusy = UInt(bits bits)
  /** The longest time from launch to SFD of all these, ns; all ones: that or more. */
  val worstLateness = UInt(32 bits)
}

/** Link faults that have begun, IEEE 802.3 46.3.4; none on GMII. */
case class FaultCounters(bits: Int) extends Bundle {
  val local, remote = UInt(bits bits)
}

/** Since `reset`, modulo 2^bits; a soft reset leaves all. */
case class MacCounters(bits: Int) extends Bundle {
  val receive = ReceiveCounters(bits)
  val transmit = TransmitCounters(bits)
  val fault = FaultCounters(bits)
}
