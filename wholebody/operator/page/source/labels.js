// Names in the 3D view, as text that stays readable: inside the view, beside the camera's picture and beside each
// other; what is behind that picture has none.
import { Vector3 } from "three";

const GAP = 4; // px

export class Labels {
  /** inside: the element with the view; beside: elements in it that they must not lie under */
  constructor(inside, camera, beside) {
    Object.assign(this, { inside, camera, beside, shown: new Map() });
  }

  /** up: m above the middle of the object */
  add(object, text, up) {
    const label = Object.assign(document.createElement("span"), { textContent: text, className: "label" });
    this.inside.append(label);
    this.shown.set(object, { label, up, width: label.offsetWidth, height: label.offsetHeight });
    label.hidden = true; // until it has a place
  }

  remove(object) {
    this.shown.get(object)?.label.remove();
    this.shown.delete(object);
  }

  place() {
    const { clientWidth: width, clientHeight: height } = this.inside;
    const covers = this.beside.filter((each) => each.offsetWidth).map(({ offsetLeft: x, offsetTop: y, offsetWidth: w, offsetHeight: h }) => ({ x, y, w, h }));
    const taken = [...covers];
    for (const [object, { label, up, width: w, height: h }] of this.shown) {
      const middle = object.position.clone().project(this.camera);
      label.hidden = middle.z > 1 || Math.abs(middle.x) > 1 || Math.abs(middle.y) > 1;
      if (label.hidden) continue;
      const [x, y] = [((middle.x + 1) / 2) * width, ((1 - middle.y) / 2) * height];
      label.hidden = covers.some((box) => x > box.x && x < box.x + box.w && y > box.y && y < box.y + box.h);
      if (label.hidden) continue;
      const at = new Vector3(0, 0, up).add(object.position).project(this.camera);
      const wanted = { x: ((at.x + 1) / 2) * width - w / 2, y: ((1 - at.y) / 2) * height - h, w, h };
      const box = free(wanted, taken, width, height);
      taken.push(box);
      label.style.transform = `translate(${Math.round(box.x)}px, ${Math.round(box.y)}px)`;
    }
  }
}

const overlap = (a, b) => a.x < b.x + b.w + GAP && b.x < a.x + a.w + GAP && a.y < b.y + b.h + GAP && b.y < a.y + a.h + GAP;

/** The place nearest to the wanted one that is inside and overlaps nothing taken; if there is none, it is crowded. */
export function free(wanted, taken, width, height) {
  const inside = (box) => ({
    ...box,
    x: Math.max(GAP, Math.min(width - box.w - GAP, box.x)),
    y: Math.max(GAP, Math.min(height - box.h - GAP, box.y)),
  });
  const first = inside(wanted);
  const [xs, ys] = [[first.x], [first.y]];
  for (const { x, y, w, h } of taken) {
    xs.push(x - first.w - GAP, x + w + GAP);
    ys.push(y - first.h - GAP, y + h + GAP);
  }
  let [best, nearest] = [{ ...first, crowded: true }, Infinity];
  for (const x of xs)
    for (const y of ys) {
      const box = inside({ ...first, x, y });
      const far = Math.hypot(box.x - first.x, box.y - first.y);
      if (far < nearest && !taken.some((each) => overlap(box, each))) [best, nearest] = [box, far];
    }
  return best;
}
