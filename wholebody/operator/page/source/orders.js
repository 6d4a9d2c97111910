// Orders: who has control, what goes on, what waits and can be cancelled, what has to be decided, what became of what.
import { allow, element, item } from "./elements.js";

const WORDS = { QUEUED: "waits", STARTED: "goes on", COMPLETED: "done", FAILED: "failed", INTERRUPTEDBY: "interrupted by" };

export class Orders {
  constructor(say, server, queue) {
    Object.assign(this, { say, server, queue });
    element("control").onclick = () => this.say(this.mine ? "CONTROL END" : "CONTROL BEGIN");
  }

  role(role) {
    allow(element("control"), role === "observer" ? "log in with a token first" : "");
  }

  show(commands, session, underway) {
    this.mine = commands.holder_session === session && session > 0;
    document.body.dataset.control = this.mine ? "mine" : commands.holder ? "others" : "nobody";
    element("control").textContent = this.mine ? "give control back" : "take control";
    element("holder").textContent = this.mine ? "you have control" : commands.holder ? `${commands.holder} has control` : "nobody has control";
    element("viewers").textContent = `${commands.viewers} connected`;
    this.server.show(commands.server);
    this.queue.show(commands.state);
    element("machine").setAttribute("aria-label", `Control: ${commands.server}; orders: ${commands.state}`);
    const text = JSON.stringify([commands.log, commands.waiting, commands.choices, commands.current, this.mine]);
    if (text !== this.seen) this.list(commands);
    this.seen = text;
    this.progress(commands.current, underway);
  }

  list(commands) {
    element("queue").replaceChildren(...commands.waiting.map((each) => this.waiting(each)));
    element("commands").replaceChildren(...commands.log.filter(({ stage }) => stage !== "QUEUED").map((each) => this.entry(each, each.number === commands.current)));
    this.decide(commands);
  }

  /** What is under way, how far it has come, and when it ends: left in seconds, null if nobody can tell. */
  progress(number, underway) {
    const { what = "", left = null, part = 1, parts = 1 } = underway ?? {};
    const begins = number !== this.number || (parts === 1 && left > this.left + 0.5);
    if (begins || !this.whole) this.whole = left;
    Object.assign(this, { number, left });
    const bar = element("commands").querySelector("progress");
    if (!bar) return;
    if (left === null || !this.whole) bar.removeAttribute("value");
    else bar.value = Math.max(0, 1 - left / this.whole);
    const [seconds, doing] = [".left", ".what"].map((each) => bar.parentElement.querySelector(each));
    seconds.textContent = left === null ? "" : `${Math.ceil(left)} s`;
    doing.textContent = parts > 1 ? `${part} of ${parts}: ${what}` : what;
  }

  waiting({ number, line }) {
    return item(["b", `${number}`], " ", ["code", line], this.cancel(number, line));
  }

  cancel(number, line) {
    const cancel = Object.assign(document.createElement("button"), { textContent: "cancel", className: "small" });
    allow(cancel, this.mine ? "" : "take control first");
    cancel.setAttribute("aria-label", `cancel ${number}: ${line}`);
    cancel.onclick = () => this.say(`CANCEL ${number}`);
    return cancel;
  }

  entry({ number, line, stage, text }, now) {
    const entry = item(["b", `${number}`], " ", ["code", line], " ", ["span", `${WORDS[stage] ?? stage} ${text}`.trim(), stage]);
    entry.dataset.stage = stage;
    if (now && stage === "STARTED") {
      const bar = Object.assign(document.createElement("progress"), { max: 1 });
      bar.setAttribute("aria-label", `how far ${number} has come`);
      const [seconds, doing] = ["left", "what"].map((className) => Object.assign(document.createElement("small"), { className }));
      entry.append(bar, seconds, ...(this.mine && line !== "STOP" ? [this.cancel(number, line)] : []), doing);
    }
    return entry;
  }

  decide(commands) {
    const { choices, current } = commands;
    element("asks-for").textContent = commands.log.find(({ number }) => number === current)?.line ?? "";
    const asks = choices.length > 0 && element("decision").hidden;
    element("decision").hidden = !choices.length;
    if (asks) element("decision").scrollIntoView({ block: "center" });
    element("choices").replaceChildren(
      ...choices.map((each) => {
        const button = Object.assign(document.createElement("button"), { textContent: each });
        allow(button, this.mine ? "" : "take control first");
        button.onclick = () => this.say(`USE STRATEGY FOR ${current} ${each}`);
        return button;
      }),
    );
  }
}
