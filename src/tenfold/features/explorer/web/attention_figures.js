// Drawings of attention: arcs from the token that writes a digit, maps of weights, the two parts of a logit, the logits.
import { s } from "./dom.js";
import { drawing } from "./figures.js";

const MARGIN = 16; // pixels

function tokenText(symbols, token) { return symbols[token] ?? "?"; }

// Tokens of the question and the answer in one row: {x, text} by side and number.
export function layTokens(look) {
  const { spec, written } = look, { symbols } = spec.vocabulary, sides = written.source ? ["source", "sequence"] : ["sequence"], places = {};
  const count = sides.reduce((sum, side) => sum + written[side].count + 0.5, 0), step = Math.max(22, Math.min(52, (look.wide - 2 * MARGIN) / count));
  let x = MARGIN + step / 2;
  for (const side of sides) {
    places[side] = Array.from(written[side].tokens, (token, n) => {
      const place = { x, text: tokenText(symbols, token), role: written[side].at.role[n] };
      x += step;
      return place;
    });
    x += step / 2;
  }
  return { places, width: x + MARGIN - step / 2, step };
}

// Arcs from the chosen token to what each head reads. Width and opacity follow the weight.
export function arcs(look) {
  const { places, width, step } = layTokens(look), query = places.sequence[look.query], shown = look.maps.filter((map) => map.layer === look.layer);
  const paths = [], parts = [];
  let highest = 40;
  for (const map of shown) {
    const keys = places[map.across ? "source" : "sequence"];
    for (let h = 0; h < map.heads; h++) {
      if (look.head !== null && look.head !== h) continue;
      for (let key = 0; key < map.keys; key++) {
        const weight = map.weights[(h * map.queries + look.row(map)) * map.keys + key];
        if (!(weight > 0.02)) continue;
        // Heads are drawn one above the other, so that those that read the same token stay apart.
        const to = keys[key].x, far = Math.abs(to - query.x), lift = Math.min(190, 30 + far * 0.42) + 9 * h, aside = 0.12 * step * (h / map.heads - 0.5);
        const path = far < 1 ? `M ${to - 8 - h} 0 C ${to - 16 - h} ${-26 - 4 * h}, ${to + 16 + h} ${-26 - 4 * h}, ${to + 8 + h} 0` : `M ${query.x + aside} 0 C ${query.x + aside} ${-lift}, ${to + aside} ${-lift}, ${to + aside} 0`;
        highest = Math.max(highest, 0.75 * lift + 8);
        paths.push(s("path", { d: path, class: `arc h${h % 8}`, "stroke-width": (0.6 + 6 * weight).toFixed(2), "stroke-opacity": (0.25 + 0.7 * weight).toFixed(2) },
          s("title", {}, `Head ${h + 1} reads "${keys[key].text}" with a weight of ${weight.toFixed(2)}`)));
      }
    }
  }
  const base = highest + 6, height = base + 50;
  parts.push(s("g", { transform: `translate(0 ${base})` }, ...paths));
  for (const side of Object.keys(places)) {
    places[side].forEach((place, n) => {
      const chosen = side === "sequence" && n === look.query, later = side === "sequence" && look.spec.kind !== "encoder" && n > look.query;
      if (chosen) parts.push(s("rect", { x: place.x - 12, y: base + 4, width: 24, height: 26, rx: 5, class: "chosen" }));
      parts.push(s("text", { x: place.x, y: base + 22, "text-anchor": "middle", class: `digit role${place.role}${later ? " later" : ""}` }, place.text));
    });
  }
  parts.push(s("text", { x: query.x, y: base + 43, "text-anchor": "middle", class: "note" }, `writes ${look.writes}`));
  return drawing(width, height, `Attention of the token "${query.text}", which writes ${look.writes}, in layer ${look.layer + 1}`, ...parts);
}

// A map of weights for every head of a layer: a row for each token that writes the answer, a column for each token read.
export function heatMaps(look) {
  const shown = look.maps.filter((map) => map.layer === look.layer), parts = [], gap = 18, most = Math.max(...shown.map((map) => map.keys));
  const size = Math.max(5, Math.min(14, Math.floor(Math.min(210, (look.wide - 80) / 2) / most))), { places } = layTokens(look), perRow = Math.max(1, Math.min(4, Math.floor((look.wide - MARGIN) / (most * size + 24)))), below = size >= 9 ? 12 : 0;
  let y = 0, widest = 0;
  for (const map of shown) {
    const first = map.queries - look.places, rows = look.places, wide = map.keys * size;
    for (let h = 0; h < map.heads; h++) {
      const x = MARGIN + (h % perRow) * (wide + 24), top = y + 18 + Math.floor(h / perRow) * (rows * size + gap + 14 + below);
      parts.push(s("text", { x, y: top - 5, class: "note" }, `head ${h + 1}${map.across ? ", question" : look.written.source ? ", answer so far" : ""}`));
      parts.push(s("rect", { x, y: top, width: wide, height: rows * size, class: "paper" }));
      for (let row = 0; row < rows; row++) {
        for (let key = 0; key < map.keys; key++) {
          const weight = map.weights[(h * map.queries + first + row) * map.keys + key];
          if (weight < 0.01) continue;
          parts.push(s("rect", { x: x + key * size, y: top + row * size, width: size - 0.5, height: size - 0.5, class: "heat", "fill-opacity": Math.min(1, 0.08 + 0.92 * weight).toFixed(2) }));
        }
      }
      for (let key = 0; below && key < map.keys; key++) {
        const { text } = places[map.across ? "source" : "sequence"][key];
        parts.push(s("text", { x: x + (key + 0.5) * size, y: top + rows * size + 10, "text-anchor": "middle", class: "tiny" }, text));
      }
      const at = look.row(map) - first;
      parts.push(s("rect", { x: x - 1, y: top + at * size - 1, width: wide + 2, height: size + 1.5, class: "outline" }));
      widest = Math.max(widest, x + wide);
    }
    y += 18 + Math.ceil(map.heads / perRow) * (rows * size + gap + 14 + below);
  }
  return drawing(widest + MARGIN, y + 4, `Attention weights of every head in layer ${look.layer + 1}`, ...parts);
}

// For one head: what the content and what the encoding add to the logit of each token that is seen.
export function logitParts(look) {
  const map = look.maps.find((each) => each.layer === look.layer && each.across === look.partsAcross), keys = layTokens(look).places[map.across ? "source" : "sequence"];
  const h = look.head ?? 0, at = (h * map.queries + look.row(map)) * map.keys, content = look.contentOf(map);
  const seen = [];
  for (let key = 0; key < map.keys; key++) if (map.total[at + key] > -Infinity) seen.push(key);
  const value = (key) => { const c = content[at + key]; return [c, map.total[at + key] - c]; };
  const top = Math.max(1, ...seen.flatMap((key) => value(key).map(Math.abs)));
  const middle = 362, scale = 130 / top, line = 22, parts = [s("line", { x1: middle, x2: middle, y1: 26, y2: 34 + seen.length * line, class: "rule" })];
  parts.push(s("text", { x: middle - 12, y: 16, "text-anchor": "end", class: "note part-content" }, "■ content"), s("text", { x: middle + 12, y: 16, class: "note part-encoding" }, "■ encoding"));
  seen.forEach((key, n) => {
    const y = 34 + n * line;
    parts.push(s("text", { x: 18, y: y + 12, class: `digit small role${keys[key].role}` }, keys[key].text));
    parts.push(s("text", { x: 36, y: y + 12, class: "note" }, look.wordsFor(map, key)));
    value(key).forEach((v, which) => {
      const length = Math.max(1, Math.abs(v) * scale), x = v < 0 ? middle - length : middle;
      parts.push(s("rect", { x, y: y + 1 + which * 8, width: length, height: 7, class: which ? "part-encoding" : "part-content" }, s("title", {}, `${which ? "encoding" : "content"} ${v.toFixed(2)}`)));
    });
  });
  return drawing(510, 44 + seen.length * line, `Content and encoding in the logits of head ${h + 1}`, ...parts);
}

// The logits of the token that is written next.
export function logitBars(look) {
  const { symbols } = look.spec.vocabulary, logits = look.logits, top = Math.max(...logits), low = Math.min(...logits), width = 470, height = 190;
  const step = (width - 50) / logits.length, scale = 120 / Math.max(1e-6, top - low), parts = [];
  logits.forEach((logit, token) => {
    const x = 34 + token * step, tall = Math.max(1, (logit - low) * scale), best = token === look.token, right = token === look.right;
    parts.push(s("rect", { x, y: 146 - tall, width: Math.max(4, step - 4), height: tall, class: `bar${best ? (right ? " best" : " mistaken") : ""}` }, s("title", {}, `${symbols[token]}: ${logit.toFixed(2)}`)));
    parts.push(s("text", { x: x + (step - 4) / 2, y: 164, "text-anchor": "middle", class: `digit small${right ? " strong" : ""}` }, symbols[token]));
    if (right) parts.push(s("text", { x: x + (step - 4) / 2, y: 180, "text-anchor": "middle", class: "note" }, "right"));
  });
  parts.push(s("text", { x: 30, y: 30, "text-anchor": "end", class: "note" }, top.toFixed(1)), s("text", { x: 30, y: 148, "text-anchor": "end", class: "note" }, low.toFixed(1)));
  return drawing(width, height, `Logits of the digit at column ${look.column + 1}`, ...parts);
}
