// The line to the robot. It speaks RCP (docs/rcp.md): lines of text both ways. Besides, it hears poses and pictures as
// bytes and news as JSON. Its wire is in a worker (static/wire.js); it comes back by itself when it is cut.
const POSES = 1;
const PICTURE = 2;

export class Line {
  constructor({ token, user }, hears) {
    Object.assign(this, { token, user, hears, patience: 500, connected: false, isOpen: false });
    this.wire = new Worker("/wire.js");
    this.wire.onmessage = ({ data: { what, data } }) => this.happens(what, data);
    this.open();
  }

  open() {
    this.hears.state("connecting");
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.tell("open", `${scheme}://${location.host}/line?acknowledges`);
  }

  tell(what, data) {
    this.wire.postMessage({ what, data });
  }

  happens(what, data) {
    if (what === "there?") this.tell("here");
    if (what === "text") this.hear(data);
    if (what === "bytes") this.hearBytes(data);
    if (what === "open") {
      this.isOpen = true;
      this.introduce();
    }
    if (what === "cut") {
      this.connected = this.isOpen = false;
      this.hears.state("lost");
      setTimeout(() => this.open(), this.patience);
      this.patience = Math.min(5000, 2 * this.patience);
    }
  }

  introduce() {
    this.say(this.token ? `CONNECT operator ${this.user} ${this.token}` : "CONNECT observer");
  }

  hear(data) {
    if (data.startsWith("{")) return this.hears.news(JSON.parse(data));
    for (const line of data.split("\n")) this.hearLine(line);
  }

  /** The next of a kind comes when this one is shown. */
  async hearBytes(data) {
    const kind = new Uint32Array(data, 0, 1)[0];
    if (kind === POSES) this.hears.poses(new Float32Array(data, 4));
    if (kind === PICTURE) await this.hears.picture(new Blob([new Uint8Array(data, 4)], { type: "image/jpeg" }));
    this.tell("taken", kind);
  }

  hearLine(line) {
    const [, user, role] = line.match(/^OK CONNECTED (\S+) (\S+)/) ?? [];
    if (role) {
      this.connected = true;
      this.patience = 500;
      this.say("NOTIFY [control, event, warning]");
      this.hears.state("connected");
      this.hears.role(user, role.toLowerCase());
    } else if (!this.connected && line.startsWith("KO")) {
      if (line.includes("try again")) setTimeout(() => this.introduce(), 400);
      else {
        this.hears.line(line);
        this.token = "";
        this.introduce();
      }
    } else this.hears.line(line);
  }

  say(line) {
    if (!this.isOpen) return false;
    this.tell("say", line);
    return true;
  }

  send(object) {
    if (this.connected) this.tell("say", JSON.stringify(object)); // before CONNECT nothing is heard
  }

  login(user, token) {
    Object.assign(this, { user, token, patience: 50 });
    this.tell("cut");
  }
}
