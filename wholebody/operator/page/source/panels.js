// Panels: boxes with forms, a table and a plot, as Python describes them (operator/page/panel.py). Only open ones are sent.
import { element, made, rounded } from "./elements.js";
import { Plot } from "./plot.js";

export class Panels {
  /** send: an object to the server */
  constructor(described, send) {
    Object.assign(this, { send, boxes: new Map() });
    for (const each of described) {
      const box = new Box(each, (form, values) => send({ panel: each.name, form, values }));
      this.boxes.set(each.name, box);
      element(each.urgent ? "urgent" : "panels").append(box.root);
      box.root.addEventListener("toggle", () => this.tell());
    }
  }

  /** Say which are open, as one has to do on every new line. */
  tell() {
    this.send({ open: [...this.boxes].filter(([, { root, urgent }]) => urgent || root.open).map(([name]) => name) });
  }

  show(news) {
    this.boxes.get(news.panel)?.show(news);
  }
}

class Box {
  constructor({ name, title, open, urgent, columns, series }, submit) {
    Object.assign(this, { name, urgent, columns, submit, forms: new Map(), rows: [] });
    this.root = made("details", { id: `panel-${name}`, className: "panel", open, hidden: urgent }, made("summary", { textContent: title }));
    this.error = made("p", { className: "error", role: "alert" });
    this.late = made("p", { className: "error" });
    this.below = made("div", { className: "forms" });
    this.answer = made("p", { className: "answer", role: "status" });
    this.root.append(this.error, this.late, this.below, this.answer);
    if (columns.length) this.root.append(this.table(title));
    this.plot = series.length ? new Plot(this.root, title, series) : null;
  }

  table(title) {
    this.body = made("tbody");
    this.head = made("tr", {}, ...this.columns.map(({ name, unit }) => made("th", { scope: "col", textContent: unit ? `${name}, ${unit}` : name })));
    return made("div", { className: "scroll", tabIndex: 0, role: "group", ariaLabel: title }, made("table", {}, made("thead", {}, this.head), this.body));
  }

  show({ error, late, forms, rows, samples, answer }) {
    if (error !== undefined) this.error.textContent = error;
    if (late !== undefined) this.late.textContent = late;
    if (forms) this.showForms(forms);
    if (rows) this.showRows(rows);
    if (samples) this.plot.add(samples);
    if (answer) {
      this.answer.textContent = answer.text;
      this.answer.classList.toggle("error", !answer.accepted);
    }
    if (this.urgent) this.root.hidden = !(this.forms.size || this.rows.length || this.error.textContent);
  }

  showRows(rows) {
    this.rows = rows;
    while (this.body.rows.length > rows.length) this.body.deleteRow(-1);
    rows.forEach((cells, i) => {
      const row = this.body.rows[i] ?? this.body.insertRow();
      cells.forEach((cell, j) => {
        const shown = typeof cell === "string" ? cell : rounded(cell, this.columns[j].digits);
        const place = row.cells[j] ?? row.insertCell();
        if (place.textContent !== shown) place.textContent = shown;
        const words = typeof cell === "string" && /^[^\d–−-]/.test(cell); // others are numbers with a unit, or none
        for (const each of [place, this.head.cells[j]]) each.classList.toggle("words", words);
      });
    });
  }

  showForms(forms) {
    for (const [name, { root }] of this.forms) {
      if (forms.some((each) => each.name === name)) continue;
      root.remove();
      this.forms.delete(name);
    }
    for (const each of forms) {
      if (!this.forms.has(each.name)) this.addForm(each);
      this.forms.get(each.name).show(each);
    }
  }

  addForm(form) {
    const shown = new Form(form, `${this.name}-${form.name}`, (values) => this.submit(form.name, values));
    this.forms.set(form.name, shown);
    this.below.append(shown.root);
  }
}

/** Inputs; what one types is not overwritten. */
class Form {
  constructor({ name, fields }, id, submit) {
    Object.assign(this, { inputs: new Map(), typed: new Set() });
    this.text = made("p", { className: "text" });
    this.log = made("pre", { tabIndex: 0, ariaLabel: "the last lines of its log" });
    this.waits = made("progress", { ariaLabel: "waits" });
    this.button = made("button", { className: "small" });
    this.root = made("form", { name }, this.text, this.waits, this.log);
    for (const field of fields) this.root.append(...this.row(field, fields.length > 1 ? `${id}-${field.name}` : id));
    this.root.append(this.button);
    this.root.onsubmit = (event) => {
      event.preventDefault();
      this.typed.clear();
      submit(Object.fromEntries([...this.inputs].map(([key, input]) => [key, input.type === "checkbox" ? `${input.checked}` : input.value])));
      document.activeElement.blur?.();
    };
  }

  row({ name, unit, meaning, lower, upper, choices, kind }, id) {
    const input = made(kind === "choice" ? "select" : "input", { id, name });
    for (const choice of choices) input.append(new Option(choice));
    if (kind === "switch") input.type = "checkbox";
    if (kind === "number") input.inputMode = "decimal";
    input.oninput = () => this.typed.add(name);
    input.onchange = () => kind === "choice" && this.button.hidden && this.root.requestSubmit();
    const bounds = lower === null && upper === null ? "" : `${lower ?? "−∞"} … ${upper ?? "∞"} `;
    const note = made("small", { textContent: `${bounds}${unit}` });
    const about = made("p", { id: `${id}-about`, textContent: meaning });
    note.id = `${id}-bounds`;
    input.setAttribute("aria-describedby", `${meaning ? `${about.id} ` : ""}${note.id}`);
    this.inputs.set(name, input);
    return [made("label", { htmlFor: id, textContent: name }), input, note, ...(meaning ? [about] : [])];
  }

  show({ fields, button, text, log, waits }) {
    const says = [[this.text, text], [this.log, log], [this.button, button]];
    for (const [part, said] of says) if (part.textContent !== said) part.textContent = said;
    for (const [part, said] of says) part.hidden = !said;
    this.waits.hidden = !waits;
    for (const { name, value, kind } of fields) {
      const input = this.inputs.get(name);
      if (!input || document.activeElement === input || this.typed.has(name)) continue;
      if (kind === "switch") input.checked = value === "true";
      else input.value = value;
    }
  }
}
