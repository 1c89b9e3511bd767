// The page's side of the jobs: calls that return promises. Without a worker, jobs run in slices in the page itself.
import { JobServer } from "./jobs.js";

export class Service {
  constructor(specs, source) {
    this.waiting = new Map(); this.count = 0;
    const receive = (message) => this.#receive(message);
    try {
      const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      this.worker = new Worker(url);
      this.worker.onmessage = ({ data }) => receive(data);
      this.worker.onerror = () => this.#withoutWorker(specs, receive);
      this.send = (message) => this.worker.postMessage(message);
    } catch {
      this.#withoutWorker(specs, receive);
    }
    this.send({ specs });
  }

  #withoutWorker(specs, receive) {
    const server = new JobServer(receive);
    this.send = (message) => { server.receive(message); };
    this.send({ specs });
    for (const [id, { name, args }] of this.waiting) this.send({ id, name, args });
  }

  // {promise, stop}: `report` is given progress. A stopped call never settles.
  call(name, args, report = () => {}) {
    const id = ++this.count;
    const promise = new Promise((resolve, reject) => this.waiting.set(id, { name, args, report, resolve, reject }));
    this.send({ id, name, args });
    return { promise, stop: () => { if (this.waiting.delete(id)) this.send({ id, stop: true }); } };
  }

  #receive({ id, progress, result, error }) {
    const call = this.waiting.get(id);
    if (!call) return;
    if (progress !== undefined) { call.report(progress); return; }
    this.waiting.delete(id);
    if (error !== undefined) call.reject(new Error(error)); else call.resolve(result);
  }
}
