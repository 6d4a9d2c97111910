// Warnings: what is wrong, since when. Each stays until it is over, or somebody has read it and dismisses it.
import { item } from "./elements.js";

const MOST = 6; // that are shown; of more, the newest

export class Warnings {
  constructor(list) {
    Object.assign(this, { list, shown: new Map() });
  }

  add(text) {
    this.remove(text);
    const dismiss = Object.assign(document.createElement("button"), { textContent: "dismiss", className: "small" });
    dismiss.setAttribute("aria-label", `dismiss: ${text}`);
    dismiss.onclick = () => this.remove(text);
    const entry = item(["time", new Date().toTimeString().slice(0, 8)], ["span", text], dismiss);
    this.shown.set(text, { entry, lasts: false });
    this.list.prepend(entry);
    if (this.shown.size > MOST) this.remove(this.shown.keys().next().value);
  }

  /** troubles: all that is wrong now; what was among them and is not any more is over */
  now(troubles) {
    for (const [text, warning] of this.shown) {
      const lasts = troubles.includes(text);
      if (warning.lasts && !lasts) this.remove(text);
      warning.lasts = lasts;
    }
  }

  remove(text) {
    this.shown.get(text)?.entry.remove();
    this.shown.delete(text);
  }
}
