// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._
import spinal.lib.IMasterSlave

/** The pins (IEEE 802.3 clause 35), 125 MHz; a master is the MAC. */
case class Gmii() extends Bundle with IMasterSlave {
  val rx_clk = Bool() // from the PHY; may stop
  val rxd = Bits(8 bits)
  val rx_dv, rx_er = Bool()
  val gtx_clk = Bool() // from our own source, to MAC and PHY; never stops
  val txd = Bits(8 bits)
  val tx_en, tx_er = Bool()

  override def asMaster(): Unit = {
    in(rx_clk, rxd, rx_dv, rx_er, gtx_clk)
    out(txd, tx_en, tx_er)
  }
}

/** A clock's worth of one direction. */
case class GmiiSymbol() extends Bundle {
  val data = Bits(8 bits)
  val valid, error = Bool()
}

/** Constants of IEEE 802.3, in byte times. */
object Ethernet {
  val preambleBytes = 7
  val preamble = 0x55
  val startOfFrame = 0xd5
  /** Without FCS; shorter frames are padded. */
  val minimumBytes = 60
  val fcsBytes = 4
  val gapBytes = 12
  /** From one SFD to the next a frame without FCS takes its bytes and these. */
  val overheadBytes: Int = preambleBytes + 1 + fcsBytes + gapBytes
  val tagBytes = 4
  /** CRC-32 over a frame and its FCS, when both are right. */
  val residue = BigInt("2144df1c", 16)
}
