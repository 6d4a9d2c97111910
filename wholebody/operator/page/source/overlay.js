// What was seen, drawn over the camera's picture: where, how far, how sure; and a click on the picture as a place to go.
import { rounded } from "./elements.js";
import { free } from "./labels.js";

const SVG = "http://www.w3.org/2000/svg";
const NARROW = 260; // px: where a name and a distance do not go beside each other
const LINE = 12; // px from line to line
const NEAREST = 18; // px of the screen: so near to an object a click means it

export class Overlay {
  /** go: to a place; goTo: to an object */
  constructor(svg, picture, go, goTo) {
    Object.assign(this, { svg, picture, go, goTo, seen: [], cameraView: null, shown: [] });
    picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect();
      this.choose(event.clientX - box.left, event.clientY - box.top);
    });
  }

  show(seen, cameraView) {
    Object.assign(this, { seen, cameraView });
    this.draw();
  }

  /** How large the picture is on the screen, and the focal length in the same pixels. */
  get lens() {
    const { clientWidth: width, clientHeight: height } = this.picture;
    return { width, height, focal: height / 2 / Math.tan(this.cameraView.field_of_view / 2) };
  }

  /** Where a point of the world is in the picture; null if it is behind the camera. The camera looks along x, z is up. */
  screen([x, y, z]) {
    const c = this.cameraView.camera;
    const d = [x - c[3], y - c[7], z - c[11]];
    const [ahead, left, up] = [0, 1, 2].map((i) => c[i] * d[0] + c[4 + i] * d[1] + c[8 + i] * d[2]);
    if (ahead < 0.05) return null;
    const { width, height, focal } = this.lens;
    return [width / 2 - (focal * left) / ahead, height / 2 - (focal * up) / ahead, focal / ahead];
  }

  /** Where the ground is that one sees at a place of the picture; null above the horizon. */
  ground(across, down) {
    const { width, height, focal } = this.lens;
    const ray = [1, (width / 2 - across) / focal, (height / 2 - down) / focal];
    const c = this.cameraView.camera;
    const [x, y, z] = [0, 4, 8].map((i) => c[i] * ray[0] + c[i + 1] * ray[1] + c[i + 2] * ray[2]);
    if (z > -0.02) return null;
    const far = -c[11] / z;
    return { x: c[3] + far * x, y: c[7] + far * y };
  }

  choose(across, down) {
    if (!this.cameraView) return;
    const near = this.shown.find(({ at: [x, y] }) => Math.hypot(x - across, y - down) < NEAREST);
    if (near) return this.goTo(near.item.name);
    const place = this.ground(across, down);
    if (place) this.go(Number(place.x.toFixed(2)), Number(place.y.toFixed(2)));
  }

  draw() {
    this.svg.replaceChildren();
    if (!this.cameraView || !this.picture.clientWidth) return;
    const { width, height } = this.lens;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.shown = this.seen
      .map((item) => ({ item, at: this.screen(item.position) }))
      .filter(({ at }) => at && at[0] > 0 && at[0] < width && at[1] > 0 && at[1] < height);
    this.taken = this.shown.map(({ at: [x, y] }) => ({ x: x - 6, y: y - 6, w: 12, h: 12 })); // no text on an object
    for (const { item, at } of this.shown) this.mark(item, at);
  }

  mark({ name, distance, deviation, accurate, visible }, [x, y, scale]) {
    const kind = `${accurate ? "sure" : "unsure"}${visible ? "" : " hidden"}`;
    const radius = Math.max(6, 2 * deviation * scale);
    const far = `${rounded(distance, 2)} m ± ${rounded(1000 * deviation, 0)} mm`;
    const lines = [...(this.lens.width < NARROW ? [name, far] : [`${name} ${far}`]), accurate ? "accurate enough to grasp" : "look again"];
    this.add("circle", { cx: x, cy: y, r: radius, class: kind });
    if (!this.write(lines, kind, x, y - radius - 4)) this.write([name], kind, x, y - radius - 4);
  }

  /** Lines above a place, or as near to it as there is room; whether there was. */
  write(lines, kind, x, y) {
    const { width, height } = this.lens;
    const texts = lines.map((line) => this.add("text", { class: kind }, line));
    const [w, h] = [Math.max(...texts.map((each) => each.getComputedTextLength())), LINE * lines.length];
    const box = free({ x: x - w / 2, y: y - h, w, h }, this.taken, width, height);
    if (box.crowded && lines.length > 1) {
      for (const text of texts) text.remove();
      return false;
    }
    this.taken.push(box);
    texts.forEach((text, i) => {
      text.setAttribute("x", box.x + w / 2);
      text.setAttribute("y", box.y + LINE * (i + 1) - 2);
    });
    return true;
  }

  add(kind, attributes, text = "") {
    const made = document.createElementNS(SVG, kind);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    this.svg.append(made);
    return made;
  }
}
