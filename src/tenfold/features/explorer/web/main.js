import { Network } from "./network.js";
import { parseProblem } from "./problems.js";
import { writeProblem } from "./writing.js";
import { JobServer } from "./jobs.js";

function start() {
  const specs = JSON.parse(document.getElementById("models").textContent);
  globalThis.explorer = { specs, Network, parseProblem, writeProblem };
}
if (typeof document === "undefined") {
  const server = new JobServer((message) => postMessage(message));
  onmessage = ({ data }) => { server.receive(data); };
} else start();
