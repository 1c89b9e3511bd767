// Share: the address of what is shown, and what the models are.
import { announce, button, counted, h, replace, tag } from "./dom.js";

export class ShareView {
  constructor(state) {
    this.state = state;
    this.link = h("input", { type: "text", readonly: true, id: "link", on: { focus: () => this.link.select() } });
    this.copied = h("span", { class: "soft", role: "status" });
    this.note = h("p", { class: "soft" });
    this.element = h("section", { class: "view", "aria-labelledby": "share-title" },
      h("h2", { id: "share-title" }, "Share"),
      h("p", { class: "lead" }, "The address below opens this page with the same problem, model and view, from the same file. Every figure has buttons that save it as SVG or PNG, and nothing you type ever leaves the page."),
      h("div", { class: "slider" }, h("label", { for: "link" }, "Address"), this.link, button("Copy", () => this.#copy())), this.copied, this.note,
      h("h3", {}, "The models on this page"),
      h("div", { class: "cards" }, state.specs.map((spec, number) => card(spec, number))));
    state.onChange(() => { if (state.view === "share") this.update(); });
  }

  update() {
    const { state } = this, address = state.address();
    this.link.value = `${location.href.split("#")[0]}${address}`;
    replace(this.copied, []);
    this.note.textContent = address.includes("problem=") ? "" : "This problem is too long for an address, which leaves it out.";
  }

  async #copy() {
    try { await navigator.clipboard.writeText(this.link.value); } catch { this.link.select(); document.execCommand("copy"); }
    this.copied.textContent = "copied";
    announce("The address was copied.");
  }
}

function card(spec, number) {
  const { made, certificate } = spec;
  const facts = {
    "what it is": spec.about,
    "given": spec.label,
    "architecture": `${spec.kind}, ${spec.stack.layers} layer${spec.stack.layers === 1 ? "" : "s"}, width ${spec.stack.width}, ${spec.stack.heads} heads, ${counted(spec.parameters)} weights`,
    "encoding": encodingText(spec.stack.encodings[0]) + (spec.stack.cross ? `; to the question: ${encodingText(spec.stack.cross[0])}` : ""),
    "trained on": `${spec.task.name}, up to ${spec.trained} digits, ${counted(made.steps)} steps at most, seed ${made.seed}`,
    "recipe": `${spec.recipe} (${made.fingerprint})`,
    "commit": made.commit, "date": made.date, "command": made.command,
    "certificate": certificate ? `${certificate.verdict}, ${counted(certificate.contexts)} contexts` : "none",
  };
  const rows = Object.entries(facts).filter(([, value]) => value);
  return h("article", { class: "card" }, h("h4", {}, tag(spec, number)), h("dl", {}, rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", { class: name === "command" ? "code" : "" }, value)])));
}

function encodingText(encoding) {
  if (encoding.parts) return encoding.parts.map(encodingText).join(" + ");
  const axis = encoding.axis && encoding.axis !== "index" ? ` by ${encoding.axis}` : "";
  if (encoding.relation) return `${encoding.name} (${encoding.relation.name})`;
  if (encoding.lines) return `${encoding.name}, ${encoding.lines.length} lines`;
  return `${encoding.name}${axis}`;
}
