// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** Stamps each received SFD for the receive domain, which has no time of its own.
  *
  * Every SFD increments a two-bit Gray tag. The transmit domain sees the change and returns time and tag, long before
  * the shortest frame has ended. The change falls between two clocks of the transmit domain, so the stamp is right to
  * half a byte time; to one byte time where a synchroniser settles late.
  */
case class ReceiveStamps(receive: ClockDomain, transmit: ClockDomain) extends Component {
  val io = new Bundle {
    // In clock domain `receive`.
    val startOfFrame = in Bool () // the pins carried it during the clock before
    val stamp = out(Stamp()) // the last SFD's, at most 64 byte times later
    // In clock domain `transmit`.
    val time = in UInt (TimeBase.bits bits)
    val increment = in UInt (TimeBase.incrementBits bits)
  }
  noIoPrefix()

  private case class Response() extends Bundle {
    val tag = Bits(2 bits)
    val stamp = Stamp()
  }

  private val requester = new ClockingArea(receive) {
    val tag = Reg(Bits(2 bits)) init 0
    when(io.startOfFrame)(tag := tag(0) ## !tag(1)) // 00, 01, 11, 10
  }

  private val responder = new ClockingArea(transmit) {
    val tag = BufferCC(requester.tag, B(0, 2 bits))
    val seen = RegNext(tag) init 0
    val changed = RegNext(tag =/= seen) init False
    val time = RegNext(io.time)
    /** Receive clocks to the tag's register (2), transmit clocks through the synchroniser (1 and a half on average). */
    val age = RegNext(TimeBase.clocks(io.increment, 7) >> 1)
    val response = Stream(Response())
    val pending = RegInit(False) clearWhen response.ready
    val stamp = Reg(Stamp())
    when(changed) {
      pending := True
      stamp := TimeBase.stamp(time - age.resized)
    }
    response.valid := pending
    response.tag := RegNextWhen(seen, changed)
    response.stamp := stamp
  }

  private val crossing = new StreamCCByToggle(Response(), transmit, receive, withOutputBufferedReset = false)
  crossing.io.input << responder.response
  crossing.io.output.ready := True
  private val taker = new ClockingArea(receive) {
    val isNewest = crossing.io.output.valid && crossing.io.output.tag === requester.tag
    io.stamp := RegNextWhen(crossing.io.output.stamp, isNewest)
  }
}
