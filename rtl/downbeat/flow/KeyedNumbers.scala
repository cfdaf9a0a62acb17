// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import spinal.core._
import spinal.lib._

/** The purposes of keyed numbers. The purpose is a byte of the message, so numbers of two purposes are independent. */
object NumberPurpose extends SpinalEnum {
  /** The key of the flow lookup's hash. */
  val lookupKey = newElement()
  /** Initial sequence number (RFC 6528) and offset of timestamps (RFC 7323 7.1) of a connection. */
  val connection = newElement()
  /** Start of the search for an ephemeral port (RFC 6056). */
  val port = newElement()
  /** SYN cookie (RFC 4987 3.6). */
  val cookie = newElement()
}

/** Terms that a cookie proves besides the 4-tuple; zero for other purposes. */
case class CookieTerms() extends Bundle {
  val sequence = UInt(32 bits) // the client's initial sequence number
  val period = UInt(CookieTerms.periodBits bits) // in which it was made
  val mss = UInt(CookieTerms.mssBits bits) // place in the table of segment sizes
}

object CookieTerms {
  val periodBits = 12
  val mssBits = 3
}

case class NumberRequest(vlanBits: Int) extends Bundle {
  val purpose = NumberPurpose()
  val tuple = FlowTuple(vlanBits)
  val terms = CookieTerms()
}

/** Numbers that a peer must not predict: 64 bits of SipHash-2-4 under the core's secret over 20 bytes, little endian:
  * {{{ remote address 4, local address 4, local port 2, remote port 2, sequence 4, period 2, MSS 1, purpose 1 }}}
  * Of a VLAN the message is 21 bytes, the last one the VLAN's number: a cookie of one VLAN is none in another.
  * After reset it derives the lookup's key. The lookup's hash is weaker; what an attacker learns of it tells nothing of
  * these numbers. It takes one request at a time, 29 clocks each.
  */
case class KeyedNumbers(vlanBits: Int) extends Component {
  val io = new Bundle {
    /** Constant from reset on. */
    val secret = in Bits (128 bits)
    val localIp = in UInt (32 bits)
    /** Stands until it is taken; `terms` is read from the third clock on. */
    val request = slave(Stream(NumberRequest(vlanBits)))
    /** From the clock after the request was taken until the next one is. */
    val number = out UInt (64 bits)
    val lookupKey = out Bits (64 bits)
    /** The lookup's key is not there yet. */
    val deriving = out Bool ()
  }
  noIoPrefix()

  private val deriving = RegInit(True)
  private val request = io.request
  private def ours(value: UInt): UInt = deriving ? U(0, value.getWidth bits) | value

  private val hasher = SipHash()
  hasher.io.key := io.secret
  private val steady = (RegNext(request.valid) init False) && RegNext(RegNext(request.valid) init False)
  hasher.io.message.valid := deriving || request.valid && steady
  hasher.io.message.payload(0) := ours(io.localIp @@ request.tuple.remoteIp)
  hasher.io.message.payload(1) := ours(request.terms.sequence @@ request.tuple.remotePort @@ request.tuple.localPort)
  private val ofVlan = if (vlanBits == 0) U(0, 1 bits) else ours(request.tuple.vlan.orR.asUInt)
  hasher.io.message.payload(2) := (U(KeyedNumbers.messageBytes / 2, 7 bits) @@ ofVlan @@
    ours(request.tuple.vlan.resize(24) @@ request.purpose.asBits.asUInt.resize(8) @@ request.terms.mss.resize(8) @@
      request.terms.period.resize(16)))

  request.ready := hasher.io.message.ready && !deriving
  io.number := RegNextWhen(hasher.io.hash, hasher.io.message.fire)
  io.lookupKey := RegNextWhen(hasher.io.hash.asBits, hasher.io.message.fire && deriving)
  when(hasher.io.message.fire)(deriving := False)
  io.deriving := deriving
}

object KeyedNumbers {
  private val messageBytes = 20 // a message of the untagged network
}
