// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.mac.Gmii
import spinal.core._
import spinal.lib._

/** The pins of RGMII 2.0, 125 MHz; a master is the MAC's side. */
case class Rgmii() extends Bundle with IMasterSlave {
  val tx_clk, tx_ctl = Bool()
  val txd = Bits(4 bits)
  val rx_clk, rx_ctl = Bool()
  val rxd = Bits(4 bits)

  override def asMaster(): Unit = {
    out(tx_clk, tx_ctl, txd)
    in(rx_clk, rx_ctl, rxd)
  }
}

/** GMII at 1 Gb/s on half the pins (RGMII 2.0, 3.2 to 3.4): bits 3 to 0 with the rising edge, 7 to 4 with the falling
  * one; CTL says valid, then valid xor error.
  *
  * A received byte is on GMII three clocks after its rising edge, one to send on the pins a clock later (in the model;
  * the primitives of an FPGA add their own).
  */
case class RgmiiPort(port: BoardPort) extends Component {
  val io = new Bundle {
    val rgmii = master(Rgmii())
    /** The PHY's side: it gives both clocks. */
    val gmii = slave(Gmii())
    val wireClock = in Bool () // 125 MHz, never stops
  }
  noIoPrefix()

  for ((clock, copy) <- Seq(io.rgmii.rx_clk -> io.gmii.rx_clk, io.wireClock -> io.gmii.gtx_clk)) {
    copy := clock
    Clock.syncDrive(clock, copy)
  }

  private val receive = new ClockingArea(ClockDomain(io.rgmii.rx_clk)) {
    private def input(pin: Bool) = DoubleDataInput(io.rgmii.rx_clk, pin, port.receiveDelay)
    val (valid, wrong) = input(io.rgmii.rx_ctl)
    val (low, high) = io.rgmii.rxd.asBools.map(input).unzip
    io.gmii.rxd := RegNext(high.asBits() ## low.asBits())
    io.gmii.rx_dv := RegNext(valid)
    io.gmii.rx_er := RegNext(valid ^ wrong)
  }

  private val low = io.gmii.txd(3 downto 0).asBools
  private val high = io.gmii.txd(7 downto 4).asBools
  io.rgmii.txd := low.zip(high).map { case (first, second) => DoubleDataOutput(io.wireClock, first, second) }.asBits()
  io.rgmii.tx_ctl := DoubleDataOutput(io.wireClock, io.gmii.tx_en, io.gmii.tx_en ^ io.gmii.tx_er)
  io.rgmii.tx_clk := DoubleDataOutput(io.wireClock, True, False, port.transmitClockDelay)
}
