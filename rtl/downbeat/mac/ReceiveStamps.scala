// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** Stamps each received SFD for the receive domain, which has no time of its own.
  *
  * Every SFD increments a two-bit Gray tag. The transmit domain sees the change and returns time and tag before the
  * shortest frame has ended. The change falls between two clocks of the transmit domain, so the stamp is right to half a
  * clock; to one clock where a synchroniser settles late. The tag tells a frame's stamp from those of fragments in
  * front of it and of the frame behind it.
  */
case class ReceiveStamps(rate: WireRate, receive: ClockDomain, transmit: ClockDomain) extends Component {
  val io = new Bundle {
    // In clock domain `receive`.
    val startOfFrame = in Bool () // the pins carried it during the clock before; on XGMII earlier (`XgmiiReceiver`)
    val secondSlot = (rate.slotsPerClock == 2) generate in(Bool()) // with it
    val end = in Bool () // one for each SFD, in order
    val stamp = out(Stamp()) // the frame's on the wire, from the end of the shortest one on, until `end`
    // In clock domain `transmit`.
    val time = in UInt (TimeBase.bits bits)
    val increment = in UInt (TimeBase.incrementBits bits)
  }
  noIoPrefix()

  private case class Response() extends Bundle {
    val tag = Bits(2 bits)
    val stamp = Stamp()
  }

  private def next(tag: Bits): Bits = tag(0) ## !tag(1) // 00, 01, 11, 10
  private val requester = new ClockingArea(receive) {
    val tag = Reg(Bits(2 bits)) init 0
    when(io.startOfFrame)(tag := next(tag))
    val second = (rate.slotsPerClock == 2) generate RegNextWhen(io.secondSlot, io.startOfFrame)
  }

  private val responder = new ClockingArea(transmit) {
    val tag = BufferCC(requester.tag, B(0, 2 bits))
    val seen = RegNext(tag) init 0
    val changed = RegNext(tag =/= seen) init False
    val time = RegNext(io.time)
    /** Receive clocks to the tag's register (2), transmit clocks through the synchroniser (1 and a half on average). */
    val halves = 7
    private def age(slot: Int) = {
      val clocks = XgmiiReceiver.sfdToStart
      if (rate.slotsPerClock == 1) RegNext(TimeBase.clocks(io.increment, halves) >> 1)
      else RegNext(TimeBase.eighths(io.increment, 4 * halves + 8 * clocks - rate.toSlot(0, slot)))
    }
    val response = Flow(Response())
    response.valid := RegNext(changed) init False
    response.tag := RegNextWhen(seen, changed)
    private val ages = (0 until rate.slotsPerClock).map(age)
    private val chosen = if (ages.size == 1) ages(0)
    else {
      val second = BufferCC(requester.second, False)
      Mux(second, ages(1).resized, ages(0))
    }
    response.stamp := RegNextWhen(TimeBase.stamp(time - chosen.resized), changed)
  }

  private val crossing = new StreamFifoCC(Response(), 4, transmit, receive, withPopBufferedReset = false)
  crossing.io.push.valid := responder.response.valid
  crossing.io.push.payload := responder.response.payload
  private val taker = new ClockingArea(receive) {
    val response = crossing.io.pop.toFlow
    /** The stamps of the last four tags. */
    val stamps = Vec(Reg(Stamp()), 4)
    when(response.valid)(stamps(response.tag.asUInt) := response.stamp)
    val ended = Reg(Bits(2 bits)) init 0
    when(io.end)(ended := next(ended))
    io.stamp := stamps(next(ended).asUInt)
  }
}
