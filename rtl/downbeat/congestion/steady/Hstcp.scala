// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** HighSpeed TCP (RFC 3649 5) by the table of its Appendix B ([[HighspeedTable]]): row n is for windows from its w on,
  * a = n, and b. Below 38 segments it is Reno.
  *
  * On an ACK of N new bytes while cwnd >= ssthresh: a segments more for each acknowledged window
  * ([[AdditiveIncrease]]). On a loss: ssthresh = max(floor(flight (1 - b)), 2 SMSS).
  *
  * The row is kept and moves by one with an event, but not while recovery inflates the window: the next loss takes the
  * share of the window that it finds. A loss takes the row down by four at most.
  *
  * Argument: 1 looks up as Linux and ns-3 do, where row n ends at its w: one row further.
  */
object Hstcp extends SteadyPolicy {
  val name = "hstcp"
  override def state: Bundle = HstcpState()
  private val rowBits = 7
  import AdditiveIncrease.creditBits
  override val arguments: Arguments = Arguments(Seq(Argument("linux", 1)))

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(HstcpState())

    val lookUp = new s0.Area {
      private val entry = entries(before.linux.asUInt @@ before.row)
      val from = insert(entry.from)
      val until = insert(entry.until)
      val share = insert((entry.decrease @@ U(0, 8 bits)).resize(16))
      val a = insert((before.row @@ U(0, 16 bits)).resize(24))
    }
    val increase = new AdditiveIncrease(pipe, lookUp.a, before)
    val decrease = new MultiplicativeDecrease(pipe, lookUp.share)

    val multiply = new s1.Area {
      val from = insert(lookUp.from * event.segmentSize)
      val until = insert(lookUp.until * event.segmentSize)
    }

    val compare = new s2.Area {
      private val whole = window.cwnd(47 downto 16).resize(33)
      val below = insert(whole < multiply.from)
      val beyond = insert(!(whole < multiply.until))
      val opens = insert(event.kind === kinds.established)
      val grows = insert(event.kind === kinds.acknowledged && !event.startingUp)
      val loses = insert(event.isLoss)
      val restarts = insert(event.kind === kinds.restart)
      val inflates = insert(event.kind === kinds.loss && !event.uninflated)
      val deflates = insert(
        event.isLoss || event.kind === kinds.recovered || event.kind === kinds.timeoutAgain)
      val moves = insert(event.kind =/= kinds.none && !before.inflated)
      val isFirst = insert(!(before.row > 1))
      val isLast = insert(!(before.row < HighspeedTable.rows))
    }

    val result = Payload(PolicyResult(stateBits))
    new s3.Area {
      val after = CombInit[HstcpState](before).allowOverride()
      result.window := window
      when(compare.moves && compare.below && !compare.isFirst)(after.row := before.row - 1)
      when(compare.moves && compare.beyond && !compare.isLast)(after.row := before.row + 1)
      when(compare.opens) {
        after.row := 1
        after.inflated := False
        after.credit := 0
      }
      when(compare.grows) {
        result.window.cwnd := increase.cwndAfter
        after.credit := increase.creditAfter
      }
      when(compare.loses) {
        result.window.ssthresh := decrease.ssthresh
        after.credit := 0
      }
      when(compare.deflates)(after.inflated := compare.inflates)
      when(compare.restarts)(after.credit := 0)
      result.policyState := after.asBits
    }
  }.result

  private case class HstcpState() extends Bundle with CreditState {
    /** The argument. */
    val linux = Bool()
    /** The row, which is a. */
    val row = UInt(rowBits bits)
    /** Duplicates inflate the window. */
    val inflated = Bool()
    val credit = UInt(creditBits bits)
  }

  /** A row: windows from one number of segments to below another, and b in 256ths. */
  private case class Entry() extends Bundle {
    val from, until = UInt(17 bits)
    val decrease = UInt(8 bits)
  }

  private def entries: Vec[Entry] = Vec(for (linux <- Seq(false, true); row <- 0 until 1 << rowBits) yield {
    val number = row.min(HighspeedTable.rows).max(1)
    def begin(number: Int): Int =
      if (number <= 1) 0
      else if (linux) HighspeedTable.all(number - 2).from + 1
      else if (number > HighspeedTable.rows) (1 << 17) - 1
      else HighspeedTable.all(number - 1).from
    val entry = Entry()
    entry.from := begin(number)
    entry.until := begin(number + 1)
    entry.decrease := HighspeedTable.all(number - 1).decrease
    entry
  })
}
