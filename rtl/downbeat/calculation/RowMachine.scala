// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.EngineSizes
import downbeat.lib.ecc.StateMemory
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._
import scala.collection.mutable
import scala.language.implicitConversions

/** An operand of an instruction. */
sealed trait Operand

/** A row of the connection, 64 bits. */
case class Row(index: Int) extends Operand

/** The row behind `base` by an index register, X or Y. */
case class Indexed(base: Row, y: Boolean) extends Operand

/** A number below 2^32. An instruction has at most one. */
case class Literal(value: BigInt) extends Operand

/** A program of a [[RowMachine]]. Numbers are 64 bits, two's complement, but for the operands of a quotient and the
  * second factor of a product, which has up to 48 bits and no sign.
  */
class RowProgram {
  import RowProgram._
  /** A place in the program. */
  class Label { var at: Int = -1 }
  private val instructions = mutable.ArrayBuffer[Instruction]()
  private case class Instruction(operation: Int, target: Operand, a: Operand, b: Operand, label: Option[Label])
  private val nowhere = Row(0)
  private def emit(operation: Int, target: Operand, a: Operand, b: Operand, label: Option[Label] = None): Unit = {
    require(!Seq(a, b).forall(_.isInstanceOf[Literal]), "one literal at most")
    instructions += Instruction(operation, target, a, b, label)
  }

  private var free = 0
  /** Another program begins: all rows of the machine are free. */
  def startOver(): Unit = free = machineRows
  /** A row of the machine. */
  def row(): Row = {
    require(free < (1 << rowBits), "more rows than a machine has")
    free += 1
    Row(free - 1)
  }
  /** The fields of the request, each into a row, without a sign. */
  def takeAll(request: Bundle, into: Seq[Row]): Unit =
    for ((row, field) <- into.zip(request.flatten).reverse) take(row, widthOf(field))
  def takeAll(request: Bundle): Seq[Row] = {
    val into = request.flatten.map(_ => row()).toSeq
    takeAll(request, into)
    into
  }

  implicit def literal(value: Int): Literal = Literal(value)
  /** The next bits of the request, from its top on, 64 at most. */
  def take(target: Operand, bits: Int): Unit = emit(Take, target, nowhere, Literal(bits))
  def add(target: Operand, a: Operand, b: Operand): Unit = emit(Add, target, a, b)
  def subtract(target: Operand, a: Operand, b: Operand): Unit = emit(Subtract, target, a, b)
  def multiply(target: Operand, a: Operand, b: Operand): Unit = emit(Multiply, target, a, b)
  /** floor(a / b); all ones where b is zero. */
  def divide(target: Operand, a: Operand, b: Operand): Unit = emit(Divide, target, a, b)
  /** floor(a / 2^b), with its sign. */
  def shift(target: Operand, a: Operand, bits: Int): Unit = emit(Shift, target, a, Literal(bits))
  def move(target: Operand, a: Operand): Unit = emit(Move, target, a, nowhere)
  def increment(row: Row): Unit = add(row, row, 1)
  def setX(a: Operand): Unit = emit(SetX, nowhere, a, nowhere)
  def setY(a: Operand): Unit = emit(SetY, nowhere, a, nowhere)
  def x(base: Row): Indexed = Indexed(base, y = false)
  def y(base: Row): Indexed = Indexed(base, y = true)
  /** A field of the response. */
  def respond(field: Int, a: Operand): Unit = emit(Respond, Row(field), a, nowhere)
  def end(): Unit = emit(End, nowhere, nowhere, nowhere)
  def place(label: Label): Unit = label.at = instructions.size
  def jump(label: Label): Unit = emit(Jump, nowhere, nowhere, nowhere, Some(label))
  def jumpIfLess(a: Operand, b: Operand)(label: Label): Unit = emit(JumpIfLess, nowhere, a, b, Some(label))
  /** One instruction with a literal: "not a < n" is "n - 1 < a". */
  def jumpUnlessLess(a: Operand, b: Operand)(label: Label): Unit = (a, b) match {
    case (_, Literal(n)) if n > 0 => jumpIfLess(Literal(n - 1), a)(label)
    case (Literal(n), _) if n + 1 < (BigInt(1) << literalBits) => jumpIfLess(b, Literal(n + 1))(label)
    case _ =>
      val yes = new Label
      jumpIfLess(a, b)(yes)
      jump(label)
      place(yes)
  }
  def ifLess(a: Operand, b: Operand)(body: => Unit): Unit = {
    val after = new Label
    jumpUnlessLess(a, b)(after)
    body
    place(after)
  }
  /** Instructions that several places run. It keeps the way back in a row, so it does not call itself. */
  class Routine(body: => Unit) {
    private val start = new Label
    private val back = row()
    def apply(): Unit = emit(Call, back, Literal(instructions.size + 1), nowhere, Some(start))
    def write(): Unit = {
      place(start)
      body
      emit(Return, nowhere, back, nowhere)
    }
  }
  def unlessLess(a: Operand, b: Operand)(body: => Unit): Unit = {
    val after = new Label
    jumpIfLess(a, b)(after)
    body
    place(after)
  }
  def ifLessElse(a: Operand, b: Operand)(body: => Unit)(otherwise: => Unit): Unit = {
    val yes, after = new Label
    jumpIfLess(a, b)(yes)
    otherwise
    jump(after)
    place(yes)
    body
    place(after)
  }
  /** The body with `counter` = 0, 1 ... below `until`, once at least. */
  def count(counter: Row, until: Operand)(body: => Unit): Unit = {
    val top = new Label
    move(counter, 0)
    place(top)
    body
    increment(counter)
    jumpIfLess(counter, until)(top)
  }
  /** from = 2^bits high + low. */
  def split(from: Operand, high: Row, low: Row, bits: Int): Unit = {
    shift(high, from, bits)
    multiply(low, high, Literal(BigInt(1) << bits))
    subtract(low, from, low)
  }
  /** Shifts all rows right, `step` bits at a time, while `by` has more than so many bits. */
  def narrow(t: Row, by: Row, bits: Int, step: Int = 1)(rows: Row*): Unit = {
    val again, after = new Label
    place(again)
    shift(t, by, bits)
    jumpIfLess(t, 1)(after)
    for (row <- rows) shift(row, row, step)
    jump(again)
    place(after)
  }
  def absolute(row: Row): Unit = ifLess(row, 0)(subtract(row, 0, row))
  def atMost(row: Row, bound: Operand): Unit = unlessLess(row, bound)(move(row, bound))
  def atLeast(row: Row, bound: Operand): Unit = unlessLess(bound, row)(move(row, bound))

  /** Its words, each with the place that it jumps to. */
  def words: Seq[(BigInt, Int)] = instructions.toSeq.map { instruction =>
    def field(operand: Operand): BigInt = operand match {
      case Row(index) => index
      case Indexed(base, y) => (if (y) 2 << rowBits else 1 << rowBits) | base.index
      case Literal(_) => 3 << rowBits
    }
    val literal =
      Seq(instruction.a, instruction.b).collect { case Literal(value) => value }.foldLeft(BigInt(0))(_ max _)
    val jump = instruction.label.fold(0)(_.at)
    require(jump >= 0, "a jump to a label without a place")
    val word =
      Seq(instruction.target, instruction.a, instruction.b).map(field).foldLeft(BigInt(instruction.operation)) {
        (word, next) => word << operandBits | next
      }
    (word << literalBits | literal, jump)
  }
}

object RowProgram {
  val Add = 0
  val Subtract = 1
  val Multiply = 2
  val Divide = 3
  val Shift = 4
  val SetX = 5
  val SetY = 6
  val Respond = 7
  val Jump = 8
  val JumpIfLess = 9
  val End = 10
  val Move = 11
  val Take = 12
  /** Moves the way back to a row, and jumps. */
  val Call = 13
  val Return = 14
  val rowBits = 7
  /** Rows for one request, the last ones; a program's first is at this number. A machine keeps others, the first ones,
    * for each connection.
    */
  val machineRows = 64
  /** Rows are kept by so many. */
  val groupBits = 4
  /** So many rows, in whole groups. */
  def groups(rows: Int): Int = (rows + (1 << groupBits) - 1 >> groupBits) << groupBits
  val operandBits: Int = rowBits + 2
  val literalBits = 32
}

/** Runs a [[RowProgram]] over the rows of one connection after another: an instruction in 5 or 6 clocks, a product or
  * quotient in as many more as [[SerialArithmetic]] takes, a shift or field of the request in as many as it has bits.
  *
  * @param kept    rows of a connection, in whole groups
  * @param flow    the connection, until `ends`
  * @param request its first field at the top, when `starts`
  * @param entry   where the program starts
  * @param fields  widths of what it responds
  */
class RowMachine(
    program: RowProgram, config: EngineSizes, kept: Int, flow: UInt, request: => Bits, entry: => UInt,
    fields: Seq[Int]) extends Area {
  import RowProgram._
  private val jumpBits = log2Up(program.words.size)
  private val bits = 4 + 3 * operandBits + literalBits + jumpBits
  private val code = Mem(program.words.map { case (word, jump) => B(word << jumpBits | jump, bits bits) })
  require(kept == groups(kept), "rows are kept in whole groups")
  /** Rows of all connections: their first groups, then their second ones. The machine's own come behind, at a multiple
    * of their number, so that no address needs an addition.
    */
  private val connections = (config.flows * kept + machineRows - 1) / machineRows * machineRows
  private val rows = StateMemory(config.ecc, Bits(64 bits), connections + machineRows)
  rows.addAttribute("no_rw_check") // written in a state of its own
  private val counter = Reg(UInt(jumpBits bits))
  private val word = Reg(Bits(bits bits))
  private val x, y = Reg(UInt(rowBits bits))
  private val a, b, result = Reg(SInt(64 bits))
  private val arithmetic = SerialArithmetic()

  private val jump = word(jumpBits - 1 downto 0).asUInt
  private val literal = word(jumpBits, literalBits bits).asUInt
  private val operands = Seq.tabulate(3)(i => word(jumpBits + literalBits + i * operandBits, operandBits bits)).reverse
  private val operation = word.takeHigh(4).asUInt
  private def is(code: Int): Bool = operation === code
  private def kind(operand: Bits): UInt = operand.takeHigh(2).asUInt
  private def place(operand: Bits): UInt = {
    val base = operand(rowBits - 1 downto 0).asUInt
    base + kind(operand).mux(1 -> x, 2 -> y, default -> U(0, rowBits bits))
  }

  /** The operand whose row is read next, and the one that is taken now. */
  private val fetched, taken = CombInit(operands(1)).allowOverride()
  private def addressed(row: UInt): UInt = {
    val own = U(connections, log2Up(connections + machineRows) bits) | row(log2Up(machineRows) - 1 downto 0).resized
    val ofConnection = row.dropLow(groupBits).asUInt @@ flow @@ row(groupBits - 1 downto 0)
    (row < kept) ? ofConnection.resize(widthOf(own)) | own
  }
  private val read = rows.readSync(addressed(place(fetched)))
  /** b is taken inverted for a difference, so that one adder makes sums, differences and comparisons. */
  private val inverts = False
  private val plain = (kind(taken) === 3) ? literal.resize(64).asSInt | read.asSInt
  private val value = plain ^ inverts.asSInt.resize(64)
  private val subtracts = is(Subtract) || is(JumpIfLess)
  /** a + b, or a - b, with its sign above: the bit below carries the one in. */
  private val sum = ((a.resize(65) ## True).asSInt + (b.resize(65) ## subtracts).asSInt) >> 1
  private val next = code.readSync(counter)

  private val writes = False
  rows.write(addressed(place(operands(0))), result.asBits, writes)

  /** The rest of the request, from its top on; bits that a shift or a field still needs. */
  private val waiting = Reg(Bits(widthOf(request) bits))
  private val left = Reg(UInt(7 bits))
  val response: Seq[UInt] = fields.map(width => Reg(UInt(width bits)))
  val starts = Bool()
  val ends = False
  arithmetic.io.request.valid := False
  arithmetic.io.request.divides := is(Divide)
  arithmetic.io.request.a := a.asUInt
  arithmetic.io.request.b := b.asUInt.resized

  private val steps: StateMachine = new StateMachine {
    val rest, fetch, decode, readA, readB, takeB, compute, wait_, shift, store = new State
    setEncoding(binaryOneHot)
    setEntry(rest)
    rest.whenIsActive {
      counter := entry.resized
      waiting := request
      when(starts)(goto(fetch))
    }
    fetch.whenIsActive(goto(decode))
    decode.whenIsActive {
      word := next
      counter := counter + 1
      goto(readA)
    }
    readA.whenIsActive(goto(readB))
    readB.whenIsActive {
      a := value
      when(is(Take))(a := 0)
      fetched := operands(2)
      goto(takeB)
    }
    takeB.whenIsActive {
      taken := operands(2)
      inverts := subtracts
      b := value
      when(is(Move) || is(Shift) || is(Take) || is(Call))(b := 0)
      goto(compute)
    }
    compute.whenIsActive {
      result := sum.resized
      left := literal.resized
      goto(decode) // the next word has come since
      when(is(Add) || is(Subtract) || is(Move) || is(Call))(goto(store))
      when(is(Shift) || is(Take))(goto(shift))
      when(is(Multiply) || is(Divide)) {
        arithmetic.io.request.valid := True
        goto(wait_)
      }
      when(is(SetX))(x := a.asUInt.resized)
      when(is(SetY))(y := a.asUInt.resized)
      for ((field, i) <- response.zipWithIndex)
        when(is(Respond) && operands(0)(rowBits - 1 downto 0).asUInt === i)(field := a.asUInt.resized)
      when(is(Jump) || is(JumpIfLess) && sum.msb) {
        counter := jump
        goto(fetch)
      }
      when(is(Call))(counter := jump) // the word there has come when the row is written
      when(is(Return)) {
        counter := a.asUInt.resized
        goto(fetch)
      }
      when(is(End)) {
        ends := True
        goto(rest)
      }
    }
    wait_.whenIsActive {
      result := arithmetic.io.response.payload.asSInt
      when(arithmetic.io.response.valid)(goto(store))
    }
    shift.whenIsActive {
      left := left - 1
      when(left === 0)(goto(store)) elsewhen is(Take) {
        result := (result ## waiting.msb).resize(64).asSInt
        waiting := waiting |<< 1
      } otherwise (result := result |>> 1)
    }
    store.whenIsActive {
      writes := True
      goto(decode)
    }
  }
}
