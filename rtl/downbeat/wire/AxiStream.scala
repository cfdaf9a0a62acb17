// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.wire

import spinal.core._
import spinal.lib._

/** An AXI4-Stream port with the field's own names (tvalid, tready, tdata ...).
  *
  * SpinalHDL's Axi4Stream counts TUSER per byte of TDATA; our stamps are one value for a beat, hence this bundle.
  *
  * @param dataBits bits of TDATA that mean something; the port has whole bytes of them, as the protocol wants, zeros
  *                 above
  * @param packet   with TKEEP and TLAST
  * @param userBits width of TUSER; 0: none
  * @param destBits width of TDEST; 0: none
  * @param stalls   with TREADY; a port without is always taken
  */
case class AxiStream(dataBits: Int, packet: Boolean = false, userBits: Int = 0, destBits: Int = 0,
    stalls: Boolean = true)
    extends Bundle with IMasterSlave {
  val tvalid = Bool()
  val tready = stalls generate Bool()
  val tdata = Bits((dataBits + 7) / 8 * 8 bits)
  val tkeep = packet generate Bits(dataBits / 8 bits)
  val tlast = packet generate Bool()
  val tuser = (userBits > 0) generate Bits(userBits bits)
  val tdest = (destBits > 0) generate UInt(destBits bits)

  override def asMaster(): Unit = {
    out(tvalid, tdata)
    if (stalls) in(tready)
    if (packet) out(tkeep, tlast)
    if (userBits > 0) out(tuser)
    if (destBits > 0) out(tdest)
  }

  /** This slave port as a stream whose payload `fill` takes from the signals. */
  def toStream[T <: Data](payload: HardType[T])(fill: T => Unit): Stream[T] = {
    val stream = Stream(payload)
    stream.valid := tvalid
    if (stalls) tready := stream.ready
    fill(stream.payload)
    stream
  }

  /** The bits of TDATA that have a meaning, without those that fill its last byte. */
  def word: Bits = tdata(dataBits - 1 downto 0)

  /** Drives this master port from a stream; `fill` gives the signals from its payload. */
  def fromStream[T <: Data](stream: Stream[T])(fill: T => Unit): Unit = {
    tvalid := stream.valid
    stream.ready := (if (stalls) tready else True)
    fill(stream.payload)
  }
}
