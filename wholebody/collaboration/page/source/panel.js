// Everything on the page that is not the 3D view.
const element = (id) => document.getElementById(id);
const rounded = (value, digits) => (value === null || !Number.isFinite(value) ? "–" : value.toFixed(digits));

export class Panel {
  constructor({ stop, resume }) {
    element("stop").onclick = stop;
    element("resume").onclick = resume;
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") stop();
    });
    this.rows = new Map();
    this.seen = "";
  }

  connection(state) {
    const texts = { connecting: "connecting…", connected: "connected", lost: "connection lost – trying again" };
    element("connection").textContent = texts[state];
    document.body.dataset.connection = state;
  }

  role(role) {
    element("role").textContent = role === "operator" ? "operator" : "viewer";
    element("resume").disabled = role !== "operator";
    element("stop").disabled = role !== "operator";
  }

  health({ condition, robot, rate, missed, age, controllers, faults, stopped }) {
    element("robot").textContent = robot;
    element("condition").textContent = stopped ? "stopped" : condition;
    document.body.dataset.condition = stopped ? "stopped" : condition;
    element("rate").textContent = `${rounded(rate, 0)} Hz`;
    element("missed").textContent = missed;
    element("age").textContent = age === null ? "no state" : `${rounded(1000 * age, 0)} ms`;
    element("controllers").textContent = controllers.length ? controllers.join(", ") : "nobody";
    element("faults").replaceChildren(
      ...faults.map((fault) => Object.assign(document.createElement("li"), { textContent: fault })),
    );
  }

  joints(joints) {
    const body = element("joints");
    for (const [name, position, reference, effort, unit] of joints) {
      if (!this.rows.has(name)) {
        const row = body.insertRow();
        row.insertCell().textContent = name;
        this.rows.set(name, [row.insertCell(), row.insertCell(), row.insertCell()]);
      }
      const [is, told, pushes] = this.rows.get(name);
      is.textContent = `${rounded(position, 3)} ${unit}`;
      told.textContent = rounded(reference, 3);
      pushes.textContent = rounded(effort, 1);
    }
  }

  events(events) {
    const text = JSON.stringify(events);
    if (text === this.seen) return;
    this.seen = text;
    element("log").replaceChildren(
      ...events.map(([seconds, name, what]) => {
        const item = document.createElement("li");
        const when = Object.assign(document.createElement("time"), { textContent: `${rounded(seconds, 0)} s ago` });
        const kind = Object.assign(document.createElement("b"), { textContent: name });
        item.append(when, " ", kind, " ", what);
        return item;
      }),
    );
  }

  say(text) {
    element("said").textContent = text;
  }
}
