// The finite machine that a proved model computes: nodes of the context search, merged where they never disagree.
import { END } from "./problems.js";

const UNDEFINED = -3;

// {states, start, output, next, arrows}: tables of states x symbols, UNDEFINED where no input leads.
export function smallestMachine(search, tokenOf, endToken) {
  const { symbols } = search, nodes = search.parent.length;
  const output = Array.from({ length: nodes }, () => new Int16Array(symbols).fill(UNDEFINED));
  const next = Array.from({ length: nodes }, () => new Int32Array(symbols).fill(UNDEFINED));
  for (const [node, symbol, key, after] of search.moves) {
    const token = tokenOf(search.contextOf.get(key));
    output[node][symbol] = token === endToken ? END : token;
    next[node][symbol] = after;
  }
  const leader = Int32Array.from({ length: nodes }, (_, node) => node), states = [];
  for (let node = 0; node < nodes; node++) {
    if (leader[node] !== node) continue;
    const merged = states.some((state) => tryMerge(state, node, leader, output, next, symbols));
    if (!merged) states.push(node);
  }
  return numbered(states, leader, output, next, symbols);
}

function find(node, leader, draft) {
  for (;;) {
    const up = draft.get(node) ?? leader[node];
    if (up === node) return node;
    node = up;
  }
}

// Merge two nodes and all that must then be one; nothing happens if some outputs disagree.
function tryMerge(first, second, leader, output, next, symbols) {
  const draft = new Map(), rows = new Map(), pending = [[first, second]];
  const row = (node) => rows.get(node) ?? [output[node], next[node]];
  while (pending.length) {
    const [a, b] = pending.pop().map((node) => find(node, leader, draft));
    if (a === b) continue;
    const [low, high] = a < b ? [a, b] : [b, a], [ours, after] = row(low), [theirs, later] = row(high);
    const joined = [ours.slice(), after.slice()];
    for (let symbol = 0; symbol < symbols; symbol++) {
      if (theirs[symbol] === UNDEFINED) continue;
      if (ours[symbol] === UNDEFINED) {
        joined[0][symbol] = theirs[symbol];
        joined[1][symbol] = later[symbol];
      } else if (ours[symbol] !== theirs[symbol]) {
        return false;
      } else if (ours[symbol] !== END) {
        pending.push([after[symbol], later[symbol]]);
      }
    }
    draft.set(high, low);
    rows.set(low, joined);
  }
  for (const [node, up] of draft) leader[node] = up;
  for (const [node, [out, after]] of rows) { output[node] = out; next[node] = after; }
  return true;
}

function numbered(states, leader, output, next, symbols) {
  const none = new Map(), top = (node) => find(node, leader, none);
  const order = [top(0)], number = new Map([[order[0], 0]]);
  for (const state of order) {
    for (let symbol = 0; symbol < symbols; symbol++) {
      if (output[state][symbol] < 0) continue;
      const after = top(next[state][symbol]);
      if (!number.has(after)) { number.set(after, order.length); order.push(after); }
    }
  }
  const arrows = new Map();
  order.forEach((state, source) => {
    for (let symbol = 0; symbol < symbols; symbol++) {
      if (output[state][symbol] === UNDEFINED) continue;
      const target = output[state][symbol] === END ? END : number.get(top(next[state][symbol]));
      const name = `${source}>${target}`;
      if (!arrows.has(name)) arrows.set(name, { source, target, symbols: [] });
      arrows.get(name).symbols.push(symbol);
    }
  });
  return {
    states: order.length,
    output: order.map((state) => Array.from(output[state])),
    next: order.map((state) => Array.from(next[state], (after, symbol) => (output[state][symbol] < 0 ? output[state][symbol] : number.get(top(after))))),
    arrows: [...arrows.values()],
  };
}
