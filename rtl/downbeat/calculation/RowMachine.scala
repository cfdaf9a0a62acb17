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

  implicit def literal(value: Int): Literal = Literal(value)
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
  def ifLess(a: Operand, b: Operand)(body: => Unit): Unit = {
    val yes, after = new Label
    jumpIfLess(a, b)(yes)
    jump(after)
    place(yes)
    body
    place(after)
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
  def atMost(row: Row, bound: Operand): Unit = ifLess(bound, row)(move(row, bound))
  def atLeast(row: Row, bound: Operand): Unit = ifLess(row, bound)(move(row, bound))

  /** Its words. */
  def words: Seq[BigInt] = instructions.toSeq.map { instruction =>
    def field(operand: Operand): BigInt = operand match {
      case Row(index) => index
      case Indexed(base, y) => (if (y) 2 << rowBits else 1 << rowBits) | base.index
      case Literal(_) => 3 << rowBits
    }
    val literal =
      Seq(instruction.a, instruction.b).collect { case Literal(value) => value }.foldLeft(BigInt(0))(_ max _)
    val jump = instruction.label.fold(0)(_.at)
    require(jump >= 0, "a jump to a label without a place")
    (Seq(instruction.target, instruction.a, instruction.b).map(field).foldLeft(BigInt(instruction.operation)) {
      (word, next) => word << operandBits | next
    } << literalBits | literal) << jumpBits | jump
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
  val rowBits = 7
  val operandBits: Int = rowBits + 2
  val literalBits = 32
  val jumpBits = 10
  val bits: Int = 4 + 3 * operandBits + literalBits + jumpBits
}

/** Runs a [[RowProgram]] over the rows of one connection after another: an instruction in 6 clocks, a product or
  * quotient in as many more as [[SerialArithmetic]] takes. `request` goes to the rows from `first` on.
  */
class RowMachine(
    program: RowProgram, config: EngineSizes, flow: UInt, first: Int, request: => Seq[UInt], fields: Seq[Int])
    extends Area {
  import RowProgram._
  private val code = Mem(program.words.map(word => B(word, bits bits)))
  private val rows = StateMemory(config.ecc, Bits(64 bits), config.flows << rowBits)
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

  private val address = UInt(rowBits bits)
  address := place(operands(1))
  private val read = rows.readSync(flow @@ address)
  private def value(operand: Bits): SInt = (kind(operand) === 3) ? literal.resize(64).asSInt | read.asSInt
  private val next = code.readSync(counter)

  private val writes = False
  private val writeRow = UInt(rowBits bits)
  private val writeValue = Bits(64 bits)
  writeRow := place(operands(0))
  writeValue := result.asBits
  rows.write(flow @@ writeRow, writeValue, writes)

  private val loading = Reg(UInt(rowBits bits))
  val response: Seq[UInt] = fields.map(width => Reg(UInt(width bits)))
  val starts = Bool()
  val ends = False
  arithmetic.io.request.valid := False
  arithmetic.io.request.divides := is(Divide)
  arithmetic.io.request.a := a.asUInt
  arithmetic.io.request.b := b.asUInt.resized

  private val steps: StateMachine = new StateMachine {
    val rest, load, fetch, decode, readA, readB, takeB, compute, wait_, store = new State
    setEncoding(binaryOneHot)
    setEntry(rest)
    rest.whenIsActive {
      counter := 0
      loading := 0
      when(starts)(goto(load))
    }
    load.whenIsActive {
      writes := True
      writeRow := loading + first
      writeValue := Vec(request.map(_.resize(64)))(loading.resize(log2Up(request.size))).asBits
      loading := loading + 1
      when(loading === request.size - 1)(goto(fetch))
    }
    fetch.whenIsActive(goto(decode))
    decode.whenIsActive {
      word := next
      counter := counter + 1
      goto(readA)
    }
    readA.whenIsActive(goto(readB))
    readB.whenIsActive {
      a := value(operands(1))
      address := place(operands(2))
      goto(takeB)
    }
    takeB.whenIsActive {
      b := value(operands(2))
      goto(compute)
    }
    compute.whenIsActive {
      result := is(Subtract) ? (a - b) | (a + b)
      when(is(Move))(result := a)
      goto(fetch)
      when(is(Add) || is(Subtract) || is(Move))(goto(store))
      when(is(Shift)) {
        result := a >> b(5 downto 0).asUInt
        goto(store)
      }
      when(is(Multiply) || is(Divide)) {
        arithmetic.io.request.valid := True
        goto(wait_)
      }
      when(is(SetX))(x := a.asUInt.resized)
      when(is(SetY))(y := a.asUInt.resized)
      for ((field, i) <- response.zipWithIndex)
        when(is(Respond) && operands(0)(rowBits - 1 downto 0).asUInt === i)(field := a.asUInt.resized)
      when(is(Jump) || is(JumpIfLess) && a < b)(counter := jump)
      when(is(End)) {
        ends := True
        goto(rest)
      }
    }
    wait_.whenIsActive {
      result := arithmetic.io.response.payload.asSInt
      when(arithmetic.io.response.valid)(goto(store))
    }
    store.whenIsActive {
      writes := True
      goto(fetch)
    }
  }
}
