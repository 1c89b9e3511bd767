// Problems: what a person may type, the true answer by the task's finite machine, and problems drawn at random.
// Digits of a number stand in a Uint8Array, the units first.
import { randomNumbers } from "./numerics.js";

export const END = -1, REFUSED = -2;
const LETTERS = "0123456789abcdef";
export const MOST_DIGITS = 100000;

export function digitsOf(text) {
  const digits = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) digits[text.length - 1 - i] = LETTERS.indexOf(text[i]);
  return digits;
}

export function textOf(digits) {
  let text = "";
  for (let i = digits.length - 1; i >= 0; i--) text += LETTERS[digits[i]];
  return text;
}

export function questionOf(operands, task) { return operands.map(textOf).join(task.operator); }

// A problem as it may be typed: 999+1, in the digits of the base.
export function exampleOf(task) { return questionOf(allNines(3, task), task); }

// The operands in a text such as "12 + 345" or "1,000+1"; throws one clear sentence where there are none.
export function parseProblem(text, task) {
  const shown = text.length > 40 ? `${text.slice(0, 37)}...` : text;
  const example = exampleOf(task);
  if (!text.trim()) throw new Error(`Nothing was typed. Write a problem such as ${example}.`);
  const plain = text.toLowerCase().replace(/\s+/g, "").replace(/=\??$/, "").replace(/[\u2212\u2013\u2014]/g, "-");
  const separated = plain.replace(/([0-9a-f])[,'\u2019_](?=[0-9a-f]{3}(?![0-9a-f]))/g, "$1");
  const terms = task.terms === 1 ? [separated] : separated.split(task.operator);
  if (/^-|[+-]-/.test(separated)) {
    throw new Error(`"${shown}" has a negative number. The model reads whole numbers from 0 on, such as ${example}.`);
  }
  if (terms.length !== task.terms) {
    const count = task.terms === 1 ? "one number" : `two numbers with one ${task.operator} between them`;
    throw new Error(`"${shown}" is not ${count}. Write it as ${example}.`);
  }
  const allowed = LETTERS.slice(0, task.base);
  const operands = terms.map((term) => {
    const number = term;
    if (!number) throw new Error(`"${shown}" has a number missing. Write it as ${example}.`);
    for (const letter of number) {
      if (!allowed.includes(letter)) {
        throw new Error(`"${shown}" has the character "${letter}", which is no digit in base ${task.base}. Write it as ${example}.`);
      }
    }
    const stripped = number.replace(/^0+(?=.)/, "");
    if (stripped.length > MOST_DIGITS) {
      throw new Error(`A number of ${stripped.length.toLocaleString("en")} digits is too long for this page, which takes ${MOST_DIGITS.toLocaleString("en")}.`);
    }
    return digitsOf(stripped);
  });
  if (truthOf(operands, task).refused) {
    throw new Error(`"${shown}" has no answer that the model was trained to give: the first number must not be smaller than the second.`);
  }
  return operands;
}

export function symbolAt(operands, column, task) {
  let symbol = 0;
  for (const digits of operands) symbol = symbol * (task.base + 1) + (column < digits.length ? digits[column] : task.base);
  return symbol;
}

// The answer, units first, and the state of the machine before each column: for addition, the carry.
export function truthOf(operands, task) {
  const symbols = (task.base + 1) ** task.terms, longest = Math.max(...operands.map((digits) => digits.length));
  const answer = [], states = [];
  let state = task.start;
  for (let column = 0; column <= longest + task.room; column++) {
    states.push(state);
    const at = state * symbols + symbolAt(operands, column, task), output = task.output[at];
    if (output === REFUSED) return { answer, states, refused: true };
    if (output === END) break;
    answer.push(output);
    state = task.next[at];
  }
  return { answer, states, refused: false };
}

function drawNumber(random, length, base) {
  const digits = new Uint8Array(length);
  for (let i = 0; i < length; i++) digits[i] = Math.floor(random() * base);
  let size = length;
  while (size > 1 && digits[size - 1] === 0) size--;
  return digits.slice(0, size);
}

// Uniform numbers of at most `length` digits, of which at least one has exactly so many: as committed curves are drawn.
export function drawProblem(random, length, task) {
  for (;;) {
    const operands = Array.from({ length: task.terms }, () => drawNumber(random, length, task.base));
    if (Math.max(...operands.map((digits) => digits.length)) < length) continue;
    if (!truthOf(operands, task).refused) return operands;
    operands.reverse();
    if (!truthOf(operands, task).refused) return operands;
  }
}

function ones(count) { return new Uint8Array(count).fill(1); }

// 99...9+1, which makes one carry run over every column.
export function allNines(length, task) {
  const nines = new Uint8Array(length).fill(task.base - 1);
  return task.terms === 1 ? [nines] : [nines, ones(1)];
}

// A long number and a short one.
export function unequalLengths(length, task, seed) {
  const random = randomNumbers(seed), long = drawNumber(random, length, task.base);
  const whole = new Uint8Array(length);
  whole.set(long);
  if (!whole[length - 1]) whole[length - 1] = 1;
  return task.terms === 1 ? [whole] : [whole, drawNumber(random, Math.max(1, Math.floor(length / 4)), task.base)];
}
