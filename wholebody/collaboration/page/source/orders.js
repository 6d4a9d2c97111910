// Orders: who has control, what goes on, what waits and can be cancelled, what has to be decided, what became of what.
import { element, item } from "./elements.js";

const WORDS = { QUEUED: "waits", STARTED: "goes on", COMPLETED: "done", FAILED: "failed", INTERRUPTEDBY: "interrupted by" };

export class Orders {
  constructor(say, server, queue) {
    Object.assign(this, { say, server, queue });
    element("control").onclick = () => this.say(this.mine ? "CONTROL END" : "CONTROL BEGIN");
  }

  role(role) {
    this.mayControl = role !== "observer";
    element("control").disabled = !this.mayControl;
  }

  show(desk, session, left) {
    this.mine = desk.holder_session === session && session > 0;
    document.body.dataset.control = this.mine ? "mine" : desk.holder ? "others" : "nobody";
    element("control").textContent = this.mine ? "give control back" : "take control";
    element("holder").textContent = this.mine ? "you have control" : desk.holder ? `${desk.holder} has control` : "nobody has control";
    element("viewers").textContent = `${desk.viewers} connected`;
    this.server.show(desk.server);
    this.queue.show(desk.state);
    element("machine").setAttribute("aria-label", `Control: ${desk.server}; orders: ${desk.state}`);
    const text = JSON.stringify([desk.log, desk.waiting, desk.choices, desk.current, this.mine]);
    if (text !== this.seen) this.list(desk);
    this.seen = text;
    this.progress(desk.current, left);
  }

  list(desk) {
    element("queue").replaceChildren(...desk.waiting.map((each) => this.waiting(each)));
    element("commands").replaceChildren(...desk.log.filter(({ stage }) => stage !== "QUEUED").map((each) => this.entry(each, each.number === desk.current)));
    this.decide(desk);
  }

  /** How far the part that is under way has come, and when it ends: left in seconds, null if nobody can tell. */
  progress(number, left) {
    if (number !== this.number || left > this.left + 0.5) this.whole = left;
    Object.assign(this, { number, left });
    const bar = element("commands").querySelector("progress");
    if (!bar) return;
    if (left === null || !this.whole) bar.removeAttribute("value");
    else bar.value = 1 - left / this.whole;
    bar.nextSibling.textContent = left === null ? "" : `${Math.ceil(left)} s`;
  }

  waiting({ number, line }) {
    const cancel = Object.assign(document.createElement("button"), { textContent: "cancel", className: "small" });
    cancel.disabled = !this.mine;
    cancel.setAttribute("aria-label", `cancel ${number}: ${line}`);
    cancel.onclick = () => this.say(`CANCEL ${number}`);
    return item(`${number} `, ["code", line], cancel);
  }

  entry({ number, line, stage, text }, now) {
    const entry = item(["b", `${number}`], " ", ["code", line], " ", ["span", `${WORDS[stage] ?? stage} ${text}`.trim(), stage]);
    entry.dataset.stage = stage;
    if (now && stage === "STARTED") {
      const bar = Object.assign(document.createElement("progress"), { max: 1 });
      bar.setAttribute("aria-label", `how far ${number} has come`);
      entry.append(bar, Object.assign(document.createElement("small"), { className: "left" }));
    }
    if (now && this.mine && stage === "STARTED" && line !== "STOP") {
      const cancel = Object.assign(document.createElement("button"), { textContent: "cancel", className: "small" });
      cancel.onclick = () => this.say(`CANCEL ${number}`);
      entry.append(" ", cancel);
    }
    return entry;
  }

  decide({ choices, current }) {
    element("decision").hidden = !choices.length;
    element("choices").replaceChildren(
      ...choices.map((each) => {
        const button = Object.assign(document.createElement("button"), { textContent: each, disabled: !this.mine });
        button.onclick = () => this.say(`USE STRATEGY FOR ${current} ${each}`);
        return button;
      }),
    );
  }
}
