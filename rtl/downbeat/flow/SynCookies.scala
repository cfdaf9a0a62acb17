// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.messages.ReceivedSegment
import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** SYN cookies (RFC 4987 3.6; the layout follows Bernstein's). When no flow is free, a SYN is answered with an initial
  * sequence number that holds all that its ACK must bring back.
  * {{{
  *   cookie = h(31..8) @@ ((period(4..0) @@ MSS's place) ^ h(31..24))    h: KeyedNumbers over 4-tuple, client's number,
  * period, place }}}
  * A period is 2^36 ns, 69 s. A cookie is accepted if its period is one of the last three and its 24 bits are right. A
  * blind ACK is accepted with a probability of 2^-27. No cookie is accepted unless one was sent in these periods.
  */
case class SynCookies(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val now = in(Stamp())
    /** A SYN of ours is under way to be a connection; the handshake of one is over, well or not. */
    val began = in Bool ()
    val over = in Bool ()
    /** Half the flows are in handshakes: no SYN gets another. */
    val full = out Bool ()
    /** A cookie may come back. */
    val expected = out Bool ()

    /** A SYN, or an ACK that may bring a cookie; stands from two clocks before `requests` on. */
    val segment = in(ReceivedSegment(config))
    /** `terms` and what else belongs to them are those of the segment from the clock after this rose. */
    val requests = in Bool ()
    val terms = out(CookieTerms())
    /** Half of [[KeyedNumbers]]'s answer. */
    val hash = in UInt (32 bits)
    /** For a SYN. */
    val cookie = out UInt (32 bits)
    val sent = in Bool ()
    /** For an ACK, two clocks after `hash`: the cookie is ours; what it was, and the MSS that it stands for. */
    val proven = out Bool ()
    val claim = out UInt (32 bits)
    val mss = out UInt (16 bits)
  }
  noIoPrefix()

  // ---- when

  private val handshakes = Reg(UInt(config.flowBits + 1 bits)) init 0
  when(io.began && !io.over)(handshakes := handshakes + 1)
  when(io.over && !io.began)(handshakes := handshakes - 1)
  assert(!(io.over && handshakes === 0), "more handshakes are over than began")
  io.full := RegNext(!(handshakes < config.flows / 2)) init False

  private val period = RegNext(io.now.ns(47 downto 48 - CookieTerms.periodBits))
  private val lastPeriod = RegNextWhen(period, io.sent)
  private val recent = RegNext(!(period - lastPeriod > SynCookies.periods)) init False
  private val expected = RegInit(False) clearWhen (!recent && !(RegNext(io.sent) init False)) setWhen io.sent
  io.expected := expected

  // ---- cookie

  private val returning = io.segment.flags.ack
  private val claimed = RegNext(io.segment.acknowledgment.value - 1)
  private val sequence = RegNext(returning ? (io.segment.sequence.value - 1) | io.segment.sequence.value)
  private val offered = io.segment.options.mssValid ? io.segment.options.mss | U(config.assumedPeerMss, 16 bits)
  private val reached = RegNext(SynCookies.mss.tail.map(size => !(offered < size)).asBits())
  private val low = claimed(7 downto 0) ^ claimed(31 downto 24)
  private val age = period(4 downto 0) - low(7 downto 3)

  private val rises = io.requests && !(RegNext(io.requests) init False)
  private def captured[T <: Data](value: T): T = RegNextWhen(value, rises)
  private val terms = CookieTerms()
  terms.sequence := sequence
  terms.period := returning ? (period - age(1 downto 0)) | period
  terms.mss := returning ? low(2 downto 0) | CountOne(reached).resize(CookieTerms.mssBits)
  io.terms := captured(terms)
  io.claim := captured(claimed)
  private val young = captured(!(age > SynCookies.periods))

  io.cookie := io.hash(31 downto 8) @@ ((io.terms.period(4 downto 0) @@ io.terms.mss) ^ io.hash(31 downto 24))
  io.proven := RegNext(io.hash(31 downto 8) === io.claim(31 downto 8)) && young
  io.mss := RegNext(Vec(SynCookies.mss.map(size => U(size, 16 bits)))(io.terms.mss))
}

object SynCookies {
  /** How many periods a cookie may be old. */
  private val periods = 2
  /** The largest of these that is not above the peer's counts. The first is the smallest that the parser lets through.
    */
  private val mss = Seq(64, 536, 1200, 1360, 1400, 1440, 1460, 8960)
}
