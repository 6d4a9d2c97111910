// State machines, each drawn once; the state that it is in is lit. Those of control and of orders have their places, and
// what people do there is blue, what the robot does is red; those of programs are drawn in a ring.
import { element } from "./elements.js";

const PLACES = {
  ...{ free: [50, 22], controlled: [150, 22], direct: [250, 22] },
  ...{ idle: [60, 82], deciding: [240, 82], moving: [240, 152], stopping: [60, 152] },
};
const [WIDE, TALL] = [44, 17]; // half a box
const SVG = "http://www.w3.org/2000/svg";

function draw(kind, attributes, text = "") {
  const made = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}

export class Machine {
  constructor(svg, { states, transitions }, places = PLACES) {
    this.states = new Map();
    const seen = new Set();
    for (const [from, to, why, by] of transitions) {
      if (from === to) continue;
      const [[x1, y1], [x2, y2]] = [places[from], places[to]];
      const shift = seen.has(`${to} ${from}`) ? 7 : -7;
      seen.add(`${from} ${to}`);
      const length = Math.hypot(x2 - x1, y2 - y1);
      const [nx, ny] = [(-(y2 - y1) / length) * Math.abs(shift), ((x2 - x1) / length) * Math.abs(shift)];
      const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
      const reach = Math.min(46 / Math.max(Math.abs(ux), 1e-6), 19 / Math.max(Math.abs(uy), 1e-6));
      const line = draw("line", { x1: x1 + nx, y1: y1 + ny, x2: x2 + nx - ux * reach, y2: y2 + ny - uy * reach, class: by ?? "", "marker-end": "url(#tip)" });
      line.append(draw("title", {}, `${from} → ${to}: ${why}`));
      svg.append(line);
    }
    for (const name of states) {
      const [x, y] = places[name];
      const group = draw("g", {});
      group.append(draw("rect", { x: x - WIDE, y: y - TALL, width: 2 * WIDE, height: 2 * TALL, rx: 9 }));
      const size = Math.min(14, (2 * WIDE - 8) / (0.6 * name.length));
      group.append(draw("text", { x, y: y + 5, style: `font-size: ${size}px` }, name));
      svg.append(group);
      this.states.set(name, group);
    }
  }

  show(state) {
    if (state === this.state) return;
    this.state = state;
    for (const [name, group] of this.states) group.classList.toggle("now", name === state);
  }
}

/** Machines of programs that run, as the news has them. */
export class Machines {
  constructor(below) {
    Object.assign(this, { below, shown: new Map() });
  }

  show(machines) {
    for (const [key, { figure }] of this.shown) {
      if (machines.some((each) => keyOf(each) === key)) continue;
      figure.remove();
      this.shown.delete(key);
    }
    for (const each of machines) {
      const { machine, svg } = this.shown.get(keyOf(each)) ?? this.make(each);
      machine.show(each.current);
      svg.setAttribute("aria-label", `${each.name}: ${each.current || "not there"}`);
    }
  }

  make(described) {
    const { name, states } = described;
    const rows = Math.ceil(states.length / 2);
    const [width, height] = [300, 62 * Math.max(2, rows)];
    const figure = document.createElement("figure");
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, class: "machine", role: "img" });
    figure.append(Object.assign(document.createElement("figcaption"), { textContent: name }), svg);
    const turn = (i) => (2 * Math.PI * i) / states.length - Math.PI / 2;
    const at = (i) => [width / 2 + (width / 2 - WIDE - 6) * Math.cos(turn(i)), height / 2 + (height / 2 - TALL - 6) * Math.sin(turn(i))];
    const machine = new Machine(svg, described, Object.fromEntries(states.map((each, i) => [each, at(i)])));
    element(this.below).append(figure);
    this.shown.set(keyOf(described), { figure, svg, machine });
    return this.shown.get(keyOf(described));
  }
}

const keyOf = ({ name, states, transitions }) => JSON.stringify([name, states, transitions]);
