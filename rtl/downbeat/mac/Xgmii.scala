// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._
import spinal.lib.IMasterSlave

/** The signals of IEEE 802.3 clause 46, 64 bits at a single data rate, 156.25 MHz; a master is the MAC. Lane 0 is in
  * the lowest bits and first on the wire.
  */
case class Xgmii() extends Bundle with IMasterSlave {
  val rx_clk = Bool() // from the PHY; may stop
  val rxd = Bits(64 bits)
  val rxc = Bits(8 bits)
  val tx_clk = Bool() // from our own source, to MAC and PHY; never stops
  val txd = Bits(64 bits)
  val txc = Bits(8 bits)

  override def asMaster(): Unit = {
    in(rx_clk, rxd, rxc, tx_clk)
    out(txd, txc)
  }
}

/** A clock's worth of one direction: eight lanes, each a byte of data or of control. */
case class XgmiiColumn() extends Bundle {
  val data = Bits(64 bits)
  val control = Bits(8 bits)

  def byte(lane: Int): Bits = data(8 * lane, 8 bits)
  def is(lane: Int, code: Int): Bool = control(lane) && byte(lane) === code
  /** The lanes from `before`'s fifth to this one's fourth. */
  def shifted(before: XgmiiColumn): XgmiiColumn = {
    val column = XgmiiColumn()
    column.data := data(31 downto 0) ## before.data(63 downto 32)
    column.control := control(3 downto 0) ## before.control(7 downto 4)
    column
  }
}

object XgmiiColumn {
  /** Control characters, clause 46.2. */
  val idle = 0x07
  val sequence = 0x9c
  val start = 0xfb
  val terminate = 0xfd
  val error = 0xfe
  /** The last byte of a sequence ordered set, clause 46.3.4. */
  val localFault = 1
  val remoteFault = 2

  private def column(data: BigInt, control: Int): XgmiiColumn = {
    val column = XgmiiColumn()
    column.data := B(data, 64 bits)
    column.control := control
    column
  }
  private def bytes(values: Seq[Int]): BigInt = values.reverse.foldLeft(BigInt(0))((sum, value) => sum << 8 | value)

  def allIdle: XgmiiColumn = column(bytes(Seq.fill(8)(idle)), 0xff)
  def allRemoteFault: XgmiiColumn =
    column(bytes(Seq.fill(2)(Seq(sequence, 0, 0, remoteFault)).flatten), 0x11)
  def preamble: XgmiiColumn =
    column(bytes(start +: Seq.fill(6)(Ethernet.preamble) :+ Ethernet.startOfFrame), 0x01)
}
