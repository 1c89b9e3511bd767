// Look: for one digit of the answer, what each head reads, and why.
import { arcs, heatMaps, logitBars, logitParts } from "./attention_figures.js";
import { answerProblem, finished } from "./decoding.js";
import { announce, choice, h, replace, tag } from "./dom.js";
import { figure } from "./figures.js";
import { largest } from "./numerics.js";
import { writeProblem } from "./writing.js";

const MOST_LOOKED = 90; // tokens that fit into a drawing
const ROLES = { 0: "text", 1: "sign", 2: "answer", 3: "first number", 4: "second number" };

export class LookView {
  constructor(state, networks) {
    this.state = state; this.networks = networks; this.head = null; this.layer = 0; this.across = null;
    this.models = h("div"); this.digits = h("div"); this.heads = h("div", { class: "rowed" });
    this.note = h("p", { class: "soft", role: "status" });
    this.arcs = figure("attention-arcs", ""); this.maps = figure("attention-maps", "");
    this.parts = figure("logit-parts", ""); this.bars = figure("logits", "");
    this.figures = h("div", { class: "figures" }, this.arcs.element, h("div", { class: "pair" }, this.parts.element, this.bars.element), this.maps.element);
    this.element = h("section", { class: "view", "aria-labelledby": "look-title" },
      h("h2", { id: "look-title" }, "Look"),
      h("p", { class: "lead" }, "A transformer writes a digit after reading other tokens, and each of its heads decides which ones. Choose a digit of the answer to see what was read for it, how strongly, and what came of it."),
      this.models, this.digits, this.heads, this.note, this.figures);
    state.onChange((changed) => { if (["operands", "model", "column", "view"].some((name) => changed.has(name))) this.update(); });
  }

  // The problem, or its lowest digits where it is too long to be drawn.
  #problem() {
    const { operands, spec } = this.state;
    const longest = Math.max(...operands.map((each) => each.length));
    for (let digits = Math.min(longest, MOST_LOOKED); digits > 0; digits--) {
      const cut = operands.map((each) => trimmed(each.subarray(0, digits)));
      try {
        const written = writeProblem(cut, spec);
        this.networks[this.state.model].check(written);
        if (written.sequence.count + (written.source?.count ?? 0) <= MOST_LOOKED) return { written, digits: digits < longest ? digits : null };
      } catch (error) { if (digits === 1) throw error; }
    }
    return null;
  }

  update() {
    const { state } = this;
    if (state.view !== "look" || !state.operands) return;
    const { spec, model } = state;
    replace(this.models, [choice("Model", state.specs.map((each, n) => tag(each, n)), model, (number) => { this.head = null; this.layer = 0; state.set({ model: number }); })]);
    let found;
    try { found = this.#problem(); } catch (error) { this.note.textContent = error.message; this.figures.hidden = true; return; }
    this.figures.hidden = false;
    const { written, digits } = found, network = this.networks[model];
    this.note.textContent = digits === null ? "" : `This problem is too long to be drawn, so its lowest ${digits} digits are looked at as a problem of their own.`;
    const look = this.#look(network, written);
    this.#choose(look);
    this.#draw(look);
  }

  // The model writes its own answer, which is then read once more as a whole, with every attention watched.
  #look(network, written) {
    const { state } = this, { spec } = state, own = { ...written, sequence: { ...written.sequence, tokens: written.sequence.tokens.slice() } };
    const { answer } = finished(answerProblem(network, written.operands)), watched = [], bare = [];
    if (spec.kind !== "encoder") own.sequence.tokens.set(answer.subarray(0, own.sequence.count - own.given), own.given);
    const logits = network.logits(own.sequence, own.source, own.target.length, { watched });
    if (network.stack.encodings[0].embedAxes.length) network.logits(own.sequence, own.source, own.target.length, { watched: bare, bare: true });
    const order = Array.from(own.columns.keys()).filter((place) => place < own.graded);
    const place = order.find((each) => own.columns[each] === (state.column ?? 0)) ?? order[0];
    const words = network.vocabulary, query = own.sequence.count - own.target.length + place;
    return {
      spec, written: own, maps: watched, layer: Math.min(this.layer, network.stack.blocks.length - 1), head: this.head, place, order, query, answer,
      column: own.columns[place], places: own.target.length, wide: Math.max(320, this.element.clientWidth),
      row: (map) => map.queries - own.target.length + place,
      contentOf: (map) => (bare.length ? bare[watched.indexOf(map)].content : map.content),
      logits: Array.from(logits.subarray(place * words, (place + 1) * words)),
      token: largest(logits, place * words, words), right: own.target[place], added: bare.length > 0,
      get writes() { return `"${spec.vocabulary.symbols[this.token]}"`; },
      wordsFor: (map, key) => this.#words(own, map, key, own.columns[place]),
      partsAcross: this.across ?? (spec.kind === "seq2seq"),
    };
  }

  #words(written, map, key, column) {
    const side = map.across ? written.source : written.sequence, at = side.at.column[key], role = side.at.role[key];
    const where = at < 0 ? "" : at === column ? ", same column" : at < column ? `, ${column - at} below` : `, ${at - column} above`;
    return `${ROLES[role] ?? "number"}${where}`;
  }

  #choose(look) {
    const { spec } = look, { symbols } = spec.vocabulary, shown = [...look.order].sort((a, b) => look.written.columns[b] - look.written.columns[a]);
    const names = shown.map((place) => (look.answer[place] === spec.vocabulary.end ? "end" : symbols[look.answer[place]]));
    replace(this.digits, [h("span", { class: "asked" }, "Digit of the answer"),
      choice("Digit of the answer", names, shown.indexOf(look.place), (n) => this.state.set({ column: look.written.columns[shown[n]] }),
        (n) => `digit${look.answer[shown[n]] === look.written.target[shown[n]] ? "" : " wrong"}`)]);
    const heads = ["all heads", ...Array.from({ length: spec.stack.heads }, (_, n) => `head ${n + 1}`)], rows = [];
    if (spec.stack.layers > 1) rows.push(choice("Layer", Array.from({ length: spec.stack.layers }, (_, n) => `layer ${n + 1}`), look.layer, (n) => { this.layer = n; this.update(); }));
    rows.push(choice("Head", heads, this.head === null ? 0 : this.head + 1, (n) => { this.head = n ? n - 1 : null; this.update(); }, (n) => (n ? `h${(n - 1) % 8}` : "")));
    if (spec.kind === "seq2seq") rows.push(choice("Attention", ["answer so far", "question"], look.partsAcross ? 1 : 0, (n) => { this.across = n === 1; this.update(); }));
    replace(this.heads, rows);
  }

  #draw(look) {
    const { symbols } = look.spec.vocabulary, head = (look.head ?? 0) + 1;
    this.arcs.show(arcs(look));
    this.arcs.say(`What is read to write the digit at column ${look.column + 1}: an arc for each head and token, as wide as its weight.`);
    this.maps.show(heatMaps(look));
    this.maps.say("All weights: a row for each token that writes a digit of the answer, in the order of writing; the chosen one is outlined.");
    this.parts.show(logitParts(look));
    this.parts.say(`Why head ${head} reads them: the match of query and key (content), and what positions add (encoding).${look.added ? " Positions enter with the tokens here, so content is computed with tokens alone, and the rest is the encoding's." : ""}`);
    this.bars.show(logitBars(look));
    this.bars.say(`The logits: the model writes ${symbols[look.token]}${look.token === look.right ? ", which is right" : `, and ${symbols[look.right]} would be right`}.`);
    announce(`Column ${look.column + 1}: the model writes ${symbols[look.token]}.`);
  }
}

function trimmed(digits) {
  let size = digits.length;
  while (size > 1 && digits[size - 1] === 0) size--;
  return digits.subarray(0, size);
}
