// What there is to go to, take, use and put down, as a list that keys reach, too: objects that were seen, what a hand
// holds, and places of the map.
import { allow, element, rounded } from "./elements.js";

const VERBS = { GOTO: "go to", GRAB: "grasp", USE: "use", DROP: "put down" };

export class Hands {
  /** handless: why it cannot take anything, if so */
  constructor(say, { objects }, handless) {
    Object.assign(this, { say, objects, handless, rows: new Map() });
    element("command").onsubmit = (event) => {
      event.preventDefault();
      const typed = element("typed").value.trim();
      if (typed) say(typed);
      element("typed").value = "";
    };
  }

  show(seen, held, place, mine) {
    const free = seen.filter(({ name }) => name !== held);
    const wanted = new Map(seen.map((each) => [each.name, [["GOTO", "GRAB", "USE"], told(each)]]));
    if (held) wanted.set(held, [["USE", "DROP"], "in the hand"]);
    for (const { name, x, y } of this.objects) wanted.set(name, [["GOTO"], `${rounded(Math.hypot(x - place.x, y - place.y), 2)} m`]);
    for (const [key, row] of this.rows) {
      if (wanted.has(row.name) && key === `${row.name} ${wanted.get(row.name)[0]}`) continue;
      row.item.remove();
      this.rows.delete(key);
    }
    for (const [name, [verbs, text]] of wanted) {
      const row = this.rows.get(`${name} ${verbs}`) ?? this.make(name, verbs);
      if (row.text.textContent !== text) row.text.textContent = text;
      for (const button of row.buttons) allow(button, (button.dataset.verb !== "GOTO" && this.handless) || (mine ? "" : "take control first"));
    }
  }

  make(name, verbs) {
    const made = document.createElement("li");
    const text = document.createElement("span");
    const buttons = verbs.map((verb) => {
      const button = Object.assign(document.createElement("button"), { textContent: VERBS[verb], className: "small" });
      button.dataset.verb = verb;
      button.setAttribute("aria-label", `${VERBS[verb]} ${name}`);
      button.onclick = () => this.say(`${verb} OBJECT(${name})`);
      return button;
    });
    made.append(Object.assign(document.createElement("b"), { textContent: name }), " ", text, ...buttons);
    element("objects").append(made);
    const row = { name, item: made, text, buttons };
    this.rows.set(`${name} ${verbs}`, row);
    return row;
  }
}

const told = ({ distance, deviation, accurate }) =>
  `${rounded(distance, 2)} m ± ${rounded(1000 * deviation, 0)} mm, ${accurate ? "accurate enough to grasp" : "look again"}`;
