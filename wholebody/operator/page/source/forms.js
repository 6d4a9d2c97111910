// Parameters as forms: each as its annotation says, with unit, bounds and meaning. What one types is not overwritten.
import { element } from "./elements.js";

export class Forms {
  constructor(say) {
    this.say = say;
    this.fields = new Map();
  }

  show(parameters) {
    for (const each of parameters) {
      if (!this.fields.has(each.name)) this.add(each);
      const field = this.fields.get(each.name);
      if (document.activeElement !== field) field.value = each.value;
    }
  }

  add({ name, unit, meaning, lower, upper, choices }) {
    const row = document.createElement("form");
    const id = `parameter-${name}`;
    const label = Object.assign(document.createElement("label"), { htmlFor: id, textContent: name });
    const field = document.createElement(choices.length ? "select" : "input");
    field.id = id;
    for (const choice of choices) field.append(new Option(choice));
    if (!choices.length) field.inputMode = "decimal";
    const bounds = lower === null || upper === null ? "" : `${lower} … ${upper} `;
    const note = Object.assign(document.createElement("small"), { textContent: `${bounds}${unit === "1" ? "" : unit}` });
    row.onsubmit = (event) => {
      event.preventDefault();
      this.say(`SET ${name} ${field.value}`);
      field.blur();
    };
    if (choices.length) field.onchange = () => row.requestSubmit();
    const about = Object.assign(document.createElement("p"), { id: `${id}-about`, textContent: meaning });
    field.setAttribute("aria-describedby", about.id);
    row.append(label, field, note, ...(meaning ? [about] : []));
    element("parameters").append(row);
    this.fields.set(name, field);
  }
}
