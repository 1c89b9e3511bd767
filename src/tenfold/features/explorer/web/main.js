// The page: the problem above, five views below. In a worker, where there is no document, this script serves jobs instead.
import { Answers } from "./answers.js";
import { AskView } from "./ask.js";
import { answerProblem, finished } from "./decoding.js";
import { announce, button, h, replace } from "./dom.js";
import { JobServer } from "./jobs.js";
import { LookView } from "./look.js";
import { Network } from "./network.js";
import { randomNumbers } from "./numerics.js";
import { allNines, drawProblem, exampleOf, MOST_DIGITS, parseProblem, textOf, unequalLengths } from "./problems.js";
import { ProveView } from "./prove.js";
import { Service } from "./service.js";
import { ShareView } from "./share.js";
import { PageState, VIEWS } from "./state.js";
import { StretchView } from "./stretch.js";
import { writeProblem } from "./writing.js";

const SHOWN_IN_FIELD = 5000; // digits; longer problems are named, not shown, in the field

function startPage(source) {
  const find = (id) => document.getElementById(id);
  const specs = JSON.parse(find("models").textContent), state = new PageState(specs), service = new Service(specs, source);
  const networks = specs.map((spec) => new Network(spec)), answers = new Answers(service, state), tabs = [];
  const show = () => VIEWS.forEach((name, n) => {
    find(`view-${name}`).hidden = name !== state.view;
    tabs[n].setAttribute("aria-selected", String(name === state.view));
    tabs[n].tabIndex = name === state.view ? 0 : -1;
  });
  state.onChange((changed) => { if (changed.has("view")) show(); }); // before the views, which measure their room
  const views = { ask: new AskView(state, answers), look: new LookView(state, networks), stretch: new StretchView(state, service), prove: new ProveView(state, service, answers), share: new ShareView(state) };
  const field = find("problem"), problem = find("problem-error"), digits = find("digits");
  const complain = (text) => { problem.textContent = text; field.setAttribute("aria-invalid", String(Boolean(text))); };
  const attempt = (action) => { try { action(); complain(""); } catch (error) { complain(error.message); } };

  find("asking").addEventListener("submit", (event) => { event.preventDefault(); attempt(() => state.ask(field.value)); });
  const count = () => {
    const number = Number(digits.value);
    if (!Number.isInteger(number) || number < 1 || number > MOST_DIGITS) throw new Error(`"${digits.value}" is not a number of digits. 1 to ${MOST_DIGITS.toLocaleString("en")} are right.`);
    return number;
  };
  const seed = () => crypto.getRandomValues(new Uint32Array(1))[0];
  const sign = state.task.operator, single = state.task.terms === 1, last = (state.task.base - 1).toString(16);
  const rival = weakest(specs);
  const quick = [
    button(single ? `${last}${last}…${last}` : `${last}${last}…${last} ${sign} 1`, () => attempt(() => state.askFor(allNines(count(), state.task))), { title: "One carry runs over every column" }),
    button("Random", () => attempt(() => state.askFor(drawProblem(randomNumbers(seed()), count(), state.task)))),
    ...(single ? [] : [button("Unequal lengths", () => attempt(() => state.askFor(unequalLengths(count(), state.task, seed()))))]),
    button(`Shortest failure of ${specs[rival].name}`, (event) => fail(event.currentTarget)),
  ];
  replace(find("quick"), quick);
  async function fail(pressed) {
    pressed.disabled = true;
    complain("");
    try {
      const found = await service.call("failure", { model: rival }, ({ length }) => announce(`Looking at ${length} digits`)).promise;
      if (found) { state.set({ model: rival }); state.askFor(found.operands); } else complain(`${specs[rival].name} made no error on the problems that were tried, up to 40 digits.`);
    } catch (error) { complain(error.message); }
    pressed.disabled = false;
  }

  tabs.push(...VIEWS.map((name) => button(name[0].toUpperCase() + name.slice(1), () => state.set({ view: name }), { role: "tab", id: `tab-${name}`, "aria-controls": `view-${name}` })));
  replace(find("tabs"), tabs);
  find("tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (VIEWS.indexOf(state.view) + step + VIEWS.length) % VIEWS.length;
    state.set({ view: VIEWS[next] });
    tabs[next].focus();
  });
  replace(find("views"), VIEWS.map((name) => h("div", { id: `view-${name}`, role: "tabpanel", "aria-labelledby": `tab-${name}`, hidden: true }, views[name].element)));
  state.onChange((changed) => {
    if (changed.has("view")) { if (state.view !== "ask") views.ask.stop(); else views.ask.draw(); }
    if (changed.has("problem")) field.value = state.problem.length <= SHOWN_IN_FIELD ? state.problem : `${state.problem.slice(0, 40)}… (${state.problem.length.toLocaleString("en")} characters)`;
  });
  // A problem that is only named in the field is not parsed again when the form is sent.
  find("asking").addEventListener("submit", () => { if (field.value.includes("… (")) complain("This problem is asked already; type or paste another one."); });
  addEventListener("hashchange", () => { if (location.hash !== state.address()) complain(state.readAddress(location.hash)); });

  show();
  const wrong = state.readAddress(location.hash);
  if (!state.operands) state.ask(exampleOf(state.task));
  field.placeholder = exampleOf(state.task);
  complain(wrong);
  document.documentElement.dataset.ready = "yes";
  globalThis.explorer = { specs, state, service, Network, parseProblem, writeProblem, answerProblem, finished, textOf };
}

// The model that its committed curve shows to be right least often: a rival to look for a failure in.
function weakest(specs) {
  const score = (spec) => (spec.certificate?.proved ? 2 : spec.curve.length ? spec.curve.reduce((sum, row) => sum + row.value, 0) / spec.curve.length : 1);
  return specs.reduce((least, spec, number) => (score(spec) < score(specs[least]) ? number : least), 0);
}

if (typeof document === "undefined") {
  const server = new JobServer((message) => postMessage(message));
  onmessage = ({ data }) => { server.receive(data); };
} else {
  const source = document.currentScript.textContent;
  try {
    startPage(source);
  } catch (error) {
    document.getElementById("problem-error").textContent = `This page cannot be shown: ${error.message}`;
    throw error;
  }
}
