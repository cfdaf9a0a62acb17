// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import spinal.core._
import spinal.lib._

/** The keyed hash of a 4-tuple: HalfSipHash-1-3 (Aumasson and Bernstein's SipHash on 32-bit words, 64-bit key, one
  * round a word and three to finish; Linux hashes its tables with it on 32-bit machines), of which two words of the
  * last state are taken. No attack is known that finds collisions without the key. Numbers that a peer sees come from
  * [[KeyedNumbers]].
  *
  * The message is eight bytes, little endian: remoteIp, localPort, remotePort; of a VLAN nine, of which the last one is
  * the VLAN's number. A round has two halves of two additions:
  * {{{
  *   v0 += v1; v1 = rotl(v1, 5) ^ v0; v0 = rotl(v0, 16);     v0 += v3; v3 = rotl(v3, 7) ^ v0;
  *   v2 += v3; v3 = rotl(v3, 8) ^ v2;                        v2 += v1; v1 = rotl(v1, 13) ^ v2; v2 = rotl(v2, 16);
  * }}}
  * Each half is a register stage, and two requests go round in the ring of both. Six rounds: a response after twelve
  * clocks, one every six.
  */
case class TupleHasher(vlanBits: Int) extends Component {
  import TupleHasher._

  val io = new Bundle {
    val key = in Bits (64 bits)
    val requests = slave(Stream(LookupRequest(vlanBits)))
    val hashed = master(Stream(HashedRequest(vlanBits)))
    val empty = out Bool ()
  }
  noIoPrefix()

  private val key = Vec(io.key(31 downto 0).asUInt, io.key(63 downto 32).asUInt)
  private val last = rounds - 1

  /** A place of the ring: the state before a half round. */
  private case class Place() extends Area {
    val valid = RegInit(False)
    val round = Reg(UInt(3 bits))
    val request = Reg(LookupRequest(vlanBits))
    val state = Reg(Vec.fill(4)(UInt(32 bits)))
  }
  private val firstHalf, secondHalf = Place()
  private val result = Stream(HashedRequest(vlanBits))

  private val done = secondHalf.valid && secondHalf.round === last
  private val moves = !done || result.ready
  private val again = secondHalf.valid && !done
  result.valid := done
  // Not right behind each other: the lookup takes one every six clocks, and while a response waits both stand still.
  private val apart = !firstHalf.valid || firstHalf.round(2 downto 1).orR
  private val enters = io.requests.valid && apart
  io.requests.ready := moves && !again && apart

  // Words that are added to the state where a round ends, chosen a clock ahead.
  private val endsWith, beginsWith = Reg(UInt(32 bits))
  private val closes = Reg(Bool())
  private val words = firstHalf.request.tuple

  private val toSecond = new Area {
    val v = firstHalf.state
    val sum0 = v(0) + v(1)
    val sum2 = v(2) + v(3)
    when(moves) {
      secondHalf.valid := firstHalf.valid
      when(firstHalf.valid) {
        secondHalf.round := firstHalf.round
        secondHalf.request := firstHalf.request
        secondHalf.state(0) := sum0.rotateLeft(16)
        secondHalf.state(1) := v(1).rotateLeft(5) ^ sum0
        secondHalf.state(2) := sum2
        secondHalf.state(3) := v(3).rotateLeft(8) ^ sum2
        endsWith := firstHalf.round.mux(0 -> word0(words), 1 -> word1(words), 2 -> word2(words), default -> none)
        beginsWith := firstHalf.round.mux(0 -> word1(words), 1 -> word2(words), default -> none)
        closes := firstHalf.round === 2
      }
    }
  }

  private val toFirst = new Area {
    val v = secondHalf.state
    val sum0 = v(0) + v(3)
    val sum2 = v(2) + v(1)
    val v1 = v(1).rotateLeft(13) ^ sum2
    val v2 = sum2.rotateLeft(16)
    val v3 = v(3).rotateLeft(7) ^ sum0
    when(moves) {
      firstHalf.valid := again || enters
      when(again) {
        firstHalf.round := secondHalf.round + 1
        firstHalf.request := secondHalf.request
        firstHalf.state(0) := sum0 ^ endsWith
        firstHalf.state(1) := v1
        firstHalf.state(2) := v2 ^ (closes ? U(0xff, 32 bits) | none)
        firstHalf.state(3) := v3 ^ beginsWith
      } elsewhen (enters) {
        firstHalf.round := 0
        firstHalf.request := io.requests.payload
        firstHalf.state(0) := key(0)
        firstHalf.state(1) := key(1)
        firstHalf.state(2) := key(0) ^ constant2
        firstHalf.state(3) := key(1) ^ constant3 ^ word0(io.requests.tuple)
      }
    }
    result.request := secondHalf.request
    result.hash.first := sum0
    result.hash.second := v2
  }

  io.hashed << result.halfPipe()
  io.empty := !firstHalf.valid && !secondHalf.valid && !io.hashed.valid
}

case class HashedRequest(vlanBits: Int) extends Bundle {
  val request = LookupRequest(vlanBits)
  val hash = TupleHash()
}

object TupleHasher {
  private val rounds = 6
  private def constant2 = U(BigInt("6c796765", 16), 32 bits)
  private def constant3 = U(BigInt("74656462", 16), 32 bits)
  private def none = U(0, 32 bits)
  private def word0(tuple: FlowTuple): UInt = tuple.remoteIp
  private def word1(tuple: FlowTuple): UInt = tuple.remotePort @@ tuple.localPort
  /** The message's last word: its length in bytes, in the top byte. */
  private def word2(tuple: FlowTuple): UInt =
    if (tuple.vlanBits == 0) U(BigInt(8) << 24, 32 bits)
    else U(4, 7 bits) @@ tuple.vlan.orR.asUInt @@ tuple.vlan.resize(24)
}
