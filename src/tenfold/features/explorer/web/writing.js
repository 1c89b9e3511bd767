// Problems as tokens with places, in each format and layout; the counterpart of tenfold's data/formats and data/batch.
import { truthOf } from "./problems.js";
import { makeSide } from "./stack.js";

const OPERATOR = 1, ANSWER = 2, OPERAND = 3; // roles

// A line of tokens with their facts.
class Line {
  constructor() { this.tokens = []; this.role = []; this.significance = []; this.column = []; }

  push(token, role, significance, column) {
    this.tokens.push(token); this.role.push(role); this.significance.push(significance); this.column.push(column);
  }

  side() {
    const side = makeSide(1, this.tokens.length);
    side.tokens.set(this.tokens);
    for (const axis of ["role", "significance", "column"]) side.at[axis].set(this[axis]);
    for (let i = 0; i < side.count; i++) side.at.index[i] = i;
    return side;
  }
}

function longestOf(operands) { return Math.max(...operands.map((digits) => digits.length)); }

// How many places the operands have, if not as many as they have digits.
function widthOf(format, operands) {
  if (format.width === null) return null;
  const longest = longestOf(operands);
  if (format.spare !== null) return Math.max(longest + format.spare, format.width);
  if (longest > format.width) throw tooLong(format.width);
  return format.width;
}

function tooLong(most) { return new Error(`This model reads numbers of up to ${most} digits; its format has room for no more.`); }

function reversedQuestion(operands, { format, vocabulary }) {
  const line = new Line(), width = widthOf(format, operands);
  if (format.start) line.push(vocabulary.start, OPERATOR, -1, -1);
  operands.forEach((digits, m) => {
    if (m) line.push(vocabulary.operator, OPERATOR, -1, -1);
    const places = width ?? digits.length;
    for (let n = 0; n < places; n++) {
      const place = format.operands === "forward" ? places - 1 - n : n;
      line.push(place < digits.length ? digits[place] : 0, OPERAND + m, place, place);
    }
  });
  return line;
}

function interleavedQuestion(operands, { format, vocabulary }) {
  const line = new Line(), columns = widthOf(format, operands) ?? longestOf(operands);
  if (operands.length > 1 || format.marked) {
    line.push(vocabulary.operator, OPERATOR, -1, format.marked ? columns : -1);
  }
  for (let place = columns - 1; place >= 0; place--) {
    operands.forEach((digits, m) => line.push(place < digits.length ? digits[place] : 0, OPERAND + m, place, place));
  }
  return line;
}

// The answer from its units on, then the end; padded to a width where operands are.
function reversedAnswer(operands, answer, { format, vocabulary, task }) {
  const line = new Line(), width = widthOf(format, operands);
  const padded = width === null ? null : width + Math.max(task.room - (format.spare ?? 0), 0);
  const digits = padded ?? answer.length, budget = padded ?? longestOf(operands) + task.room;
  for (let place = 0; place <= budget; place++) {
    const token = place < digits ? answer[place] ?? 0 : place === digits ? vocabulary.end : vocabulary.pad;
    line.push(token, ANSWER, place, place);
  }
  return { line, graded: digits + 1 };
}

// The given line, the token `first`, and the answer but for its last token. A token works on the column that it predicts.
function beforeAnswer(question, answer, first) {
  const line = new Line(), end = answer.tokens.length - 1;
  for (let i = 0; i < question.tokens.length; i++) {
    line.push(question.tokens[i], question.role[i], question.significance[i], question.column[i]);
  }
  line.push(first, OPERATOR, -1, answer.column[0]);
  for (let i = 0; i < end; i++) line.push(answer.tokens[i], ANSWER, answer.significance[i], answer.column[i + 1]);
  return line;
}

function inPlace(operands, answer, { format, vocabulary, task }) {
  const longest = longestOf(operands);
  if (format.frame !== "fit" && longest > format.frame) throw tooLong(format.frame);
  const frame = format.frame === "fit" ? longest + format.spare : format.frame;
  const width = frame + task.room, size = Math.max(operands.length * (frame + 1) - 1, width), line = new Line();
  for (let i = 0; i < size; i++) line.push(vocabulary.operator, OPERATOR, -1, -1);
  operands.forEach((digits, m) => {
    const end = size - (operands.length - 1 - m) * (frame + 1);
    for (let place = 0; place < frame; place++) {
      const at = end - 1 - place, inside = place < digits.length;
      line.tokens[at] = inside ? digits[place] : vocabulary.pad;
      line.role[at] = OPERAND + m;
      line.significance[at] = line.column[at] = inside ? place : -1;
    }
  });
  const target = [], columns = [];
  for (let column = width - 1; column >= 0; column--) {
    line.column[size - 1 - column] = column;
    target.push(column < answer.length ? answer[column] : vocabulary.pad);
    columns.push(column);
  }
  return { sequence: line.side(), source: null, given: size, target, columns, graded: width };
}

function causal(operands, answer, model, question) {
  const { line, graded } = reversedAnswer(operands, answer, model);
  const sequence = beforeAnswer(question, line, model.vocabulary.equals).side();
  return { sequence, source: null, given: question.tokens.length + 1, target: line.tokens, columns: line.column, graded };
}

function sourceAndTarget(operands, answer, model, question) {
  const { line, graded } = reversedAnswer(operands, answer, model);
  const sequence = beforeAnswer(new Line(), line, model.vocabulary.start).side();
  return { sequence, source: question.side(), given: 1, target: line.tokens, columns: line.column, graded };
}

const QUESTIONS = { reversed: reversedQuestion, interleaved: interleavedQuestion };
const LAYOUTS = { decoder: causal, seq2seq: sourceAndTarget };

// A problem as its model reads it. The sequence holds the true answer after its first `given` tokens. `target` are the
// right tokens of the answer places, `columns` the power of the base that each belongs to.
export function writeProblem(operands, model) {
  const truth = truthOf(operands, model.task);
  const written = model.kind === "encoder"
    ? inPlace(operands, truth.answer, model)
    : LAYOUTS[model.kind](operands, truth.answer, model, QUESTIONS[model.format.name](operands, model));
  return { ...written, truth, operands };
}

// The same with the answer blanked out: what a model may see when it is asked.
export function withoutAnswer(written, model) {
  const sequence = { ...written.sequence, tokens: written.sequence.tokens.slice() };
  sequence.tokens.fill(model.vocabulary.pad, written.given);
  return { ...written, sequence };
}
