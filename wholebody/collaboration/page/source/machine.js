// The state machines of control and of orders, each drawn once; the state that it is in is lit. What people do is blue,
// what the robot does is red.
const AT = {
  ...{ free: [50, 22], controlled: [150, 22], direct: [250, 22] },
  ...{ idle: [60, 82], deciding: [240, 82], moving: [240, 152], stopping: [60, 152] },
};
const SVG = "http://www.w3.org/2000/svg";

function draw(kind, attributes, text = "") {
  const made = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}

export class Machine {
  constructor(svg, { states, transitions }) {
    this.states = new Map();
    const seen = new Set();
    for (const [from, to, why, by] of transitions) {
      if (from === to) continue;
      const [[x1, y1], [x2, y2]] = [AT[from], AT[to]];
      const shift = seen.has(`${to} ${from}`) ? 7 : -7;
      seen.add(`${from} ${to}`);
      const length = Math.hypot(x2 - x1, y2 - y1);
      const [nx, ny] = [(-(y2 - y1) / length) * Math.abs(shift), ((x2 - x1) / length) * Math.abs(shift)];
      const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
      const reach = Math.min(46 / Math.max(Math.abs(ux), 1e-6), 19 / Math.max(Math.abs(uy), 1e-6));
      const line = draw("line", { x1: x1 + nx, y1: y1 + ny, x2: x2 + nx - ux * reach, y2: y2 + ny - uy * reach, class: by, "marker-end": "url(#tip)" });
      line.append(draw("title", {}, `${from} → ${to}: ${why}`));
      svg.append(line);
    }
    for (const name of states) {
      const [x, y] = AT[name];
      const group = draw("g", {});
      group.append(draw("rect", { x: x - 44, y: y - 17, width: 88, height: 34, rx: 9 }), draw("text", { x, y: y + 5 }, name));
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
