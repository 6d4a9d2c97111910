// Driving: keys, buttons that are held and sticks, all to one velocity. It is said at once when it changes, and again
// while it lasts, because the robot forgets it after half a second.
const AGAIN = 150; // ms
const DEAD = 0.15; // of a stick
const KEYS = {
  ...{ KeyW: [1, 0, 0], ArrowUp: [1, 0, 0], KeyS: [-1, 0, 0], ArrowDown: [-1, 0, 0] },
  ...{ KeyA: [0, 0, 1], ArrowLeft: [0, 0, 1], KeyD: [0, 0, -1], ArrowRight: [0, 0, -1] },
  ...{ KeyQ: [0, 1, 0], KeyE: [0, -1, 0] },
};

export class Drive {
  constructor(say) {
    Object.assign(this, { say, enabled: false, held: new Map(), stick: [0, 0, 0], said: "", speeds: { walk: 0.1, turn: 0.2 } });
    window.addEventListener("keydown", (event) => {
      if (!KEYS[event.code] || event.repeat || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      event.preventDefault();
      this.hold(event.code, KEYS[event.code]);
    });
    window.addEventListener("keyup", (event) => this.release(event.code));
    window.addEventListener("blur", () => this.releaseAll());
    document.addEventListener("visibilitychange", () => document.hidden && this.releaseAll());
    for (const button of document.querySelectorAll("[data-drive]")) this.watch(button);
    setInterval(() => this.again(), AGAIN);
  }

  watch(button) {
    const direction = button.dataset.drive.split(" ").map(Number);
    const may = () => this.enabled && !button.hasAttribute("aria-disabled");
    button.addEventListener("pointerdown", (event) => {
      if (!may()) return;
      button.setPointerCapture(event.pointerId);
      this.hold(button, direction);
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"])
      button.addEventListener(end, () => this.release(button));
    button.addEventListener("keydown", (event) => {
      if ((event.code !== "Space" && event.code !== "Enter") || !may()) return;
      event.preventDefault();
      if (!event.repeat) this.hold(button, direction);
    });
    button.addEventListener("keyup", () => this.release(button));
    button.addEventListener("blur", () => this.release(button));
    button.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  hold(what, direction) {
    if (!this.enabled) return;
    this.held.set(what, direction);
    this.tell(false);
  }

  release(what) {
    if (this.held.delete(what)) this.tell(false);
  }

  releaseAll() {
    this.held.clear();
    this.stick = [0, 0, 0];
    this.tell(false);
  }

  get velocity() {
    const sum = [...this.stick];
    for (const direction of this.held.values()) direction.forEach((each, i) => (sum[i] += each));
    const { walk, turn } = this.speeds;
    return [walk, walk / 3, turn].map((speed, i) => speed * Math.max(-1, Math.min(1, sum[i])));
  }

  tell(again) {
    const line = `DRIVE ${this.velocity.map((each) => String(Number(each.toFixed(3)))).join(" ")}`;
    const rests = line === "DRIVE 0 0 0";
    if (!this.enabled || (rests && (again || !this.said)) || (line === this.said && !again)) return;
    this.said = rests ? "" : line;
    this.say(line);
  }

  again() {
    const pad = [...(navigator.getGamepads?.() ?? [])].find((each) => each?.connected);
    if (pad) {
      const axis = (i) => (Math.abs(pad.axes[i] ?? 0) < DEAD ? 0 : -pad.axes[i]);
      this.stick = [axis(1), axis(0), axis(2)];
      const pressed = pad.buttons[1]?.pressed ?? false;
      if (pressed && !this.pressed) this.say("STOP");
      this.pressed = pressed;
      this.tell(false);
    }
    if (this.said) this.tell(true);
  }
}

export const typing = (target) => ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName) && target.type !== "checkbox";
