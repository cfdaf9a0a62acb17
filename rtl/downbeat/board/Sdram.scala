// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import spinal.core._
import spinal.lib._
import spinal.lib.io.TriStateArray
import spinal.lib.memory.sdram.SdramGeneration.SDR
import spinal.lib.memory.sdram.SdramLayout
import spinal.lib.memory.sdram.sdr.{SdramCtrl, SdramCtrlBus, SdramTimings}

/** A board's SDRAM of single data rate: what SpinalHDL's controller has to know of it.
  *
  * @param cas clocks from a read command to its word, 2 or 3
  */
case class SdramChip(layout: SdramLayout, timings: SdramTimings, cas: Int)

object SdramChip {
  /** EtronTech EM638325-6: 8 MiB in words of 32 bits. It wants 4,096 refreshes in 64 ms; the controller has one for
    * each row in `tREF`, and there are 2,048 rows in a bank.
    */
  val em638325: SdramChip = SdramChip(
    SdramLayout(SDR, bankWidth = 2, columnWidth = 8, rowWidth = 11, dataWidth = 32),
    SdramTimings(bootRefreshCount = 8, tPOW = 200 us, tREF = 32 ms, tRC = 60 ns, tRFC = 60 ns, tRAS = 42 ns,
      tRP = 18 ns, tRCD = 18 ns, cMRD = 2,
      tWR = 0 ns, cWR = 2),
    cas = 2)
}

/** An SDRAM's pins that a board brings to the FPGA, but its data: its CKE is high, its CS and DQM are low. */
abstract class SdramCommand(layout: SdramLayout) extends Bundle with IMasterSlave {
  val clk, ras_n, cas_n, we_n = Bool()
  val a = Bits(layout.chipAddressWidth bits)
  val ba = Bits(layout.bankWidth bits)

  def driven: Seq[BaseType] = Seq(clk, ras_n, cas_n, we_n, a, ba)
}

/** With its data inside the FPGA, which is the master. */
case class SdramPins(layout: SdramLayout) extends SdramCommand(layout) {
  val dq = TriStateArray(layout.dataWidth)

  override def asMaster(): Unit = {
    out(driven: _*)
    master(dq)
  }

  /** Drives the pins of a board that stores nothing in its SDRAM. */
  def rest(): Unit = {
    clk := False
    for (high <- Seq(ras_n, cas_n, we_n)) high := True
    for (unused <- Seq(a, ba, dq.write, dq.writeEnable)) unused.clearAll()
  }
}

/** With its data at the FPGA's pads. */
case class SdramWires(layout: SdramLayout) extends SdramCommand(layout) {
  val dq = Analog(Bits(layout.dataWidth bits))

  override def asMaster(): Unit = {
    out(driven: _*)
    inout(dq)
  }
}

/** SpinalHDL's controller at the pins of a chip, in a clock domain whose frequency is known.
  *
  * The chip's clock is this one inverted: commands and words to write have half a clock to reach it and hold as long,
  * and a word that is read is there, tAC and the pins' delays after the chip's rising edge, when the next falling edge
  * here takes it. It begins when the reset is over.
  *
  * Since no board brings CKE, which the controller would stop the chip by, a response is always taken: `bus.rsp.ready`
  * is not looked at.
  */
case class SdramPort(chip: SdramChip) extends Component {
  val io = new Bundle {
    val bus = slave(SdramCtrlBus(chip.layout, NoData()))
    val pins = master(SdramPins(chip.layout))
  }
  noIoPrefix()

  private val controller = SdramCtrl(chip.layout, chip.timings, chip.cas, NoData())
  controller.io.bus.cmd << io.bus.cmd
  controller.io.bus.rsp.ready := True
  io.bus.rsp.valid := controller.io.bus.rsp.valid
  io.bus.rsp.payload := controller.io.bus.rsp.payload

  private val clock = ClockDomain.current.readClockWire
  private val sdram = controller.io.sdram
  private val runs = RegNext(True) init False // in reset the commands' registers are filled
  io.pins.clk := DoubleDataOutput(clock, first = False, second = runs)
  io.pins.ras_n := sdram.RASn
  io.pins.cas_n := sdram.CASn
  io.pins.we_n := sdram.WEn
  io.pins.a := sdram.ADDR
  io.pins.ba := sdram.BA
  io.pins.dq.write := sdram.DQ.write
  io.pins.dq.writeEnable := sdram.DQ.writeEnable
  sdram.DQ.read := io.pins.dq.read.asBools.map(FallingEdgeInput(clock, _)).asBits()
}

/** A pin that is taken with a clock's falling edges, by the flip-flop beside it.
  *
  * ECP5: TRELLIS_FF in the I/O cell. Elsewhere (no SYNTHESIS defined) a model.
  */
class FallingEdgeInput extends BlackBox {
  val clk, pin = in(Bool())
  val taken = out(Bool())
  setInlineVerilog(
    """module FallingEdgeInput (
      |  input  wire clk,
      |  input  wire pin,
      |  output wire taken
      |);
      |`ifdef SYNTHESIS
      |  (* syn_useioff, ioff_dir = "input" *)
      |  TRELLIS_FF #(.GSR("DISABLED"), .CEMUX("1"), .CLKMUX("INV"), .LSRMUX("LSR"), .SRMODE("LSR_OVER_CE"), .REGSET("RESET"))
      |    ff (.CLK(clk), .LSR(1'b0), .DI(pin), .Q(taken));
      |`else
      |  reg atFalling;
      |  always @(negedge clk) atFalling <= pin;
      |  assign taken = atFalling;
      |`endif
      |endmodule
      |""".stripMargin)
}

object FallingEdgeInput {
  def apply(clock: Bool, pin: Bool): Bool = {
    val input = new FallingEdgeInput
    input.clk := clock
    input.pin := pin
    input.taken
  }
}
