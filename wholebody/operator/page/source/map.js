// The map: walls, objects, the robot and which way it faces; a click is a goal. Arrow keys and Enter choose one, too.
import { COLORS } from "./colors.js";
import { free } from "./labels.js";

export const SIDES = ["ahead", "left", "behind", "right"];

export class GroundMap {
  constructor(canvas, { walls, objects }, go) {
    Object.assign(this, { canvas, walls, objects, go, place: { x: 0, y: 0, yaw: 0 }, goal: null, cursor: null, trail: [], seen: [] });
    this.context = canvas.getContext("2d");
    canvas.addEventListener("click", (event) => {
      const box = canvas.getBoundingClientRect();
      this.choose(this.ground(event.clientX - box.left, event.clientY - box.top));
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => this.draw((this.cursor = null)));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  key(event) {
    const step = { ArrowUp: [0.1, 0], ArrowDown: [-0.1, 0], ArrowLeft: [0, 0.1], ArrowRight: [0, -0.1] }[event.key];
    if (step) {
      const { x, y } = this.cursor ?? this.place;
      this.cursor = { x: x + step[0], y: y + step[1] };
      this.draw();
    } else if (event.key === "Enter" && this.cursor) this.choose(this.cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  choose({ x, y }) {
    this.goal = { x, y };
    this.go(Number(x.toFixed(2)), Number(y.toFixed(2)));
    this.draw();
  }

  show(place, seen = []) {
    this.seen = seen;
    const last = this.trail.at(-1);
    if (!last || Math.hypot(place.x - last.x, place.y - last.y) > 0.05) this.trail = [...this.trail.slice(-400), place];
    this.place = place;
    this.draw();
  }

  /** metres around what there is to see; x is up on the screen, as the robot faces when it starts */
  get window() {
    const points = [this.place, { x: -1.5, y: -1.5 }, { x: 1.5, y: 1.5 }, ...(this.goal ? [this.goal] : [])];
    for (const { x, y, length, width } of [...this.walls, ...this.objects])
      points.push({ x: x - length / 2, y: y - width / 2 }, { x: x + length / 2, y: y + width / 2 });
    const [xs, ys] = [points.map((p) => p.x), points.map((p) => p.y)];
    const [low, high] = [{ x: Math.min(...xs) - 0.3, y: Math.min(...ys) - 0.3 }, { x: Math.max(...xs) + 0.3, y: Math.max(...ys) + 0.3 }];
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const scale = Math.min(w / (high.y - low.y), h / (high.x - low.x));
    return { scale, x: (low.x + high.x) / 2, y: (low.y + high.y) / 2, w, h };
  }

  screen({ x, y }, view = this.window) {
    return [view.w / 2 - (y - view.y) * view.scale, view.h / 2 - (x - view.x) * view.scale];
  }

  ground(across, down) {
    const view = this.window;
    return { x: view.x - (down - view.h / 2) / view.scale, y: view.y - (across - view.w / 2) / view.scale };
  }

  draw() {
    const { context, canvas } = this;
    const view = this.window;
    if (canvas.width !== view.w || canvas.height !== view.h) [canvas.width, canvas.height] = [view.w, view.h];
    context.clearRect(0, 0, view.w, view.h);
    const here = this.screen(this.place, view);
    const around = ([x, y], far) => ({ x: x - far, y: y - far, w: 2 * far, h: 2 * far });
    const marks = this.seen.map(({ position: [x, y] }) => around(this.screen({ x, y }, view), 5));
    this.words = [around(here, 9), ...marks]; // none on the robot, and none on an object
    this.grid(view);
    for (const wall of this.walls) this.block(wall, COLORS.wall, view);
    for (const object of this.objects) this.block(object, COLORS.place, view);
    this.distances(view);
    for (const item of this.seen) this.item(item, view);
    context.strokeStyle = COLORS.robot;
    context.globalAlpha = 0.5;
    context.beginPath();
    for (const point of this.trail) context.lineTo(...this.screen(point, view));
    context.stroke();
    context.globalAlpha = 1;
    for (const [point, ink] of [[this.goal, COLORS.goal], [this.cursor, "#fff"]]) if (point) this.cross(point, ink, view);
    this.robot(view);
  }

  grid(view) {
    const { context } = this;
    context.strokeStyle = COLORS.grid;
    context.beginPath();
    const [across, down] = [view.w / view.scale / 2, view.h / view.scale / 2];
    for (let y = Math.ceil(view.y - across); y <= view.y + across; y += 1) {
      const [at] = this.screen({ x: 0, y }, view);
      context.moveTo(at, 0);
      context.lineTo(at, view.h);
    }
    for (let x = Math.ceil(view.x - down); x <= view.x + down; x += 1) {
      const [, at] = this.screen({ x, y: 0 }, view);
      context.moveTo(0, at);
      context.lineTo(view.w, at);
    }
    context.stroke();
  }

  block({ x, y, length, width, yaw }, ink, view) {
    const { context } = this;
    context.save();
    context.translate(...this.screen({ x, y }, view));
    context.rotate(-yaw);
    context.fillStyle = ink;
    context.fillRect((-width / 2) * view.scale, (-length / 2) * view.scale, width * view.scale, length * view.scale);
    context.restore();
  }

  item({ name, position: [x, y], radius, deviation, accurate }, view) {
    const { context } = this;
    const at = this.screen({ x, y }, view);
    const ink = accurate ? COLORS.sure : COLORS.unsure;
    context.fillStyle = context.strokeStyle = ink;
    context.beginPath();
    context.arc(...at, Math.max(3, radius * view.scale), 0, 2 * Math.PI);
    context.fill();
    context.beginPath();
    context.arc(...at, Math.max(5, (radius + 2 * deviation) * view.scale), 0, 2 * Math.PI);
    context.stroke();
    this.say(name, at, ink, view);
  }

  /** Lines to what is ahead, to the left, behind and to the right, and how far that is. */
  distances(view) {
    const { context, place } = this;
    context.strokeStyle = COLORS.far;
    context.setLineDash([2, 4]);
    SIDES.forEach((side, quarter) => {
      const far = place.around?.[side] ?? null;
      if (far === null) return;
      const heading = place.yaw + (quarter * Math.PI) / 2;
      const at = (share) => this.screen({ x: place.x + share * far * Math.cos(heading), y: place.y + share * far * Math.sin(heading) }, view);
      context.beginPath();
      context.moveTo(...at(0));
      context.lineTo(...at(1));
      context.stroke();
      this.say(far.toFixed(2), at(0.6), COLORS.far, view);
    });
    context.setLineDash([]);
  }

  /** A word at a place, beside those that were said before. */
  say(text, [x, y], ink, view) {
    const { context } = this;
    context.save();
    context.setLineDash([]);
    Object.assign(context, { font: "11px system-ui, sans-serif", fillStyle: ink, strokeStyle: COLORS.page, lineWidth: 3 });
    const w = context.measureText(text).width;
    const box = free({ x: x - w / 2, y: y - 17, w, h: 10 }, this.words, view.w, view.h);
    this.words.push(box);
    context.strokeText(text, box.x, box.y + 9);
    context.fillText(text, box.x, box.y + 9);
    context.restore();
  }

  cross(point, ink, view) {
    const [x, y] = this.screen(point, view);
    const { context } = this;
    context.strokeStyle = ink;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y, 7, 0, 2 * Math.PI);
    context.moveTo(x - 10, y);
    context.lineTo(x + 10, y);
    context.moveTo(x, y - 10);
    context.lineTo(x, y + 10);
    context.stroke();
    context.lineWidth = 1;
  }

  robot(view) {
    const { context } = this;
    context.save();
    context.translate(...this.screen(this.place, view));
    context.rotate(-this.place.yaw);
    context.fillStyle = COLORS.robot;
    context.beginPath();
    context.moveTo(0, -13);
    context.lineTo(9, 9);
    context.lineTo(-9, 9);
    context.fill();
    context.restore();
  }
}
