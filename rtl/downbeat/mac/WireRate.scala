// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.config.DownbeatConfig

/** How a wire's clock carries bytes, and where in a clock an SFD may be: in one of its slots.
  *
  * @param nominalIncrement  what a clock lasts, ns, 8.32 fixed point
  * @param slotsPerClock     instants in a clock at which the byte of an SFD may begin
  * @param slotBytes         bytes from one slot to the next
  * @param startToSfd        clocks from the start of a frame to the clock whose pins carry its preamble's last byte
  * @param sfdEighths        eighths of a clock from its edge to its first slot
  * @param stampWord         word of a received frame, from 0, behind which the frame's stamp is known
  */
case class WireRate(
    nominalIncrement: BigInt, slotsPerClock: Int, slotBytes: Int, startToSfd: Int, sfdEighths: Int,
    stampWord: Int) {
  /** Clocks from a decision of the gate to the SFD in its first slot. */
  val decisionToSfd: Int = 1 + startToSfd
  private val slotEighths = 8 / slotsPerClock
  /** The eighths of a clock from a clock's edge to its slot, `clocks` later. */
  def toSlot(clocks: Int, slot: Int = 0): Int = 8 * clocks + sfdEighths + slotEighths * slot
}

object WireRate {
  /** GMII: a byte in a clock of 125 MHz. */
  val gigabit: WireRate = WireRate(BigInt(8) << 32, slotsPerClock = 1, slotBytes = 1,
    startToSfd = 1 + Ethernet.preambleBytes, sfdEighths = 0, stampWord = 2)

  /** XGMII: eight bytes in a clock of 156.25 MHz. A frame starts in lane 0 or 4, its SFD is seven bytes later. */
  val tenGigabit: WireRate = WireRate((BigInt(64) << 32) / 10, slotsPerClock = 2, slotBytes = 4,
    startToSfd = XgmiiTransmitter.startToSfd, sfdEighths = Ethernet.preambleBytes, stampWord = 6)

  def of(config: DownbeatConfig): WireRate = if (config.xgmii) tenGigabit else gigabit
}
