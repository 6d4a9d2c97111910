// A plot: the last minute of named series, newest at the right; those of one unit share axes. Its legend is text, with the
// newest values, so that one who sees no picture reads them.
import { made, rounded } from "./elements.js";

const SPAN = 60; // s
const FINEST = 3; // digits of a number beside a grid line
const COLORS = ["#4dabf7", "#ffd43b", "#69db7c", "#ff8787", "#da77f2", "#ffa94d"];
const DASHES = [[], [6, 3], [2, 2]]; // once the colours are used up
const [LEFT, BELOW, ABOVE, RIGHT] = [46, 16, 6, 8]; // px around the lines
const INK = { grid: "#343a40", text: "#adb5bd" };

export class Plot {
  constructor(below, title, series) {
    this.samples = [];
    const units = [...new Set(series.map(({ unit }) => unit))];
    this.axes = units.map((unit) => {
      const lines = series.flatMap((each, index) => (each.unit === unit ? [{ name: each.name, index, color: COLORS[index % COLORS.length], dash: DASHES[Math.floor(index / COLORS.length) % DASHES.length] }] : []));
      const canvas = made("canvas", { className: "plot", role: "img", ariaLabel: `${title}: ${lines.map(({ name }) => name).join(", ")}${symbol(unit)}, over the last minute` });
      const legend = made("ul", { className: "series" });
      for (const line of lines) {
        line.value = made("span");
        const swatch = made("i", { ariaHidden: "true" });
        swatch.style.background = line.color;
        legend.append(made("li", {}, swatch, `${line.name} `, line.value));
      }
      below.append(made("figure", {}, canvas, legend));
      new ResizeObserver(() => this.draw()).observe(canvas);
      return { unit, lines, canvas, context: canvas.getContext("2d") };
    });
  }

  /** samples: [s, value of each series …], in their order */
  add(samples) {
    const [last, newest] = [this.samples.at(-1)?.[0] ?? 0, samples.at(-1)[0]];
    this.samples = [...this.samples, ...samples.filter(([at]) => at > last)].filter(([at]) => at > newest - SPAN); // a new line begins anew
    for (const { lines, unit } of this.axes)
      for (const { index, value } of lines) value.textContent = `${rounded(this.samples.at(-1)[1 + index], 3)}${unit === "1" ? "" : ` ${unit}`}`;
    this.drawing ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.drawing = undefined;
    for (const axes of this.axes) this.drawAxes(axes);
  }

  drawAxes({ unit, lines, canvas, context }) {
    const scale = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !this.samples.length) return;
    if (canvas.width !== Math.round(width * scale)) [canvas.width, canvas.height] = [width * scale, height * scale].map(Math.round);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    const values = this.samples.flatMap((sample) => lines.map(({ index }) => sample[1 + index])).filter((each) => each !== null);
    const { step, low, high } = ticks(values);
    const now = this.samples.at(-1)[0];
    const x = (at) => LEFT + (width - LEFT - RIGHT) * (1 + (at - now) / SPAN);
    const y = (value) => ABOVE + (height - ABOVE - BELOW) * (1 - (value - low) / (high - low));
    this.grid(context, { x, y, now, step, low, high, width, height, unit });
    for (const { index, color, dash } of lines) {
      Object.assign(context, { strokeStyle: color, lineWidth: 1.5 });
      context.setLineDash(dash);
      context.beginPath();
      let drawn = false; // a value that nobody knows is a gap
      for (const sample of this.samples) {
        const value = sample[1 + index];
        if (value === null) drawn = false;
        else context[drawn ? "lineTo" : "moveTo"](x(sample[0]), y(value));
        drawn = value !== null;
      }
      context.stroke();
    }
    context.setLineDash([]);
  }

  grid(context, { x, y, now, step, low, high, width, height, unit }) {
    Object.assign(context, { font: "11px system-ui, sans-serif", fillStyle: INK.text, strokeStyle: INK.grid, lineWidth: 1 });
    context.beginPath();
    context.textAlign = "right";
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    for (let value = low; value < high + step / 2; value += step) {
      context.moveTo(LEFT, y(value));
      context.lineTo(width - RIGHT, y(value));
      const last = value + step > high + step / 2;
      const shown = digits > FINEST ? value.toExponential(0).replace(/^-?0e.*/, "0") : rounded(value, digits); // or it would be cut off
      context.fillText(`${shown}${last && unit !== "1" ? ` ${unit}` : ""}`, LEFT - 4, y(value) + 4);
    }
    context.textAlign = "center";
    for (let before = 0; before < SPAN; before += 15) {
      context.moveTo(x(now - before), ABOVE);
      context.lineTo(x(now - before), height - BELOW);
      if (before) context.fillText(`−${before} s`, x(now - before), height - 3);
    }
    context.stroke();
  }
}

const symbol = (unit) => (unit === "1" ? "" : ` in ${unit}`);

/** Round steps from below the least to above the greatest value. */
export function ticks(values) {
  let [least, most] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
  if (most - least < 1e-9 + 1e-3 * Math.abs(most)) [least, most] = [least - 0.05 * (Math.abs(least) || 1), most + 0.05 * (Math.abs(most) || 1)];
  const rough = (most - least) / 4;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * ten).find((each) => each >= rough);
  return { step, low: Math.floor(least / step) * step, high: Math.ceil(most / step) * step };
}
