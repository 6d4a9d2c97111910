// The line to the robot. It speaks RCP (docs/rcp.md): lines of text both ways. Besides, it hears poses and pictures as
// bytes and news as JSON. It says something every second, and comes back by itself when it is cut.
const POSES = 1;
const PICTURE = 2;

export class Line {
  constructor({ token, user }, hears) {
    Object.assign(this, { token, user, hears, patience: 500, connected: false });
    this.open();
    setInterval(() => this.live(), 250);
  }

  open() {
    this.hears.state("connecting");
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/line`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.introduce();
    this.socket.onmessage = ({ data }) => this.hear(data);
    this.socket.onclose = () => {
      this.connected = false;
      this.hears.state("lost");
      setTimeout(() => this.open(), this.patience);
      this.patience = Math.min(5000, 2 * this.patience);
    };
  }

  introduce() {
    this.say(this.token ? `CONNECT operator ${this.user} ${this.token}` : "CONNECT observer");
  }

  /** A word every second, and also when poses come while the browser is too busy for its clocks. */
  live() {
    const now = performance.now();
    if (now - (this.lived ?? 0) < 1000) return;
    this.lived = now;
    this.say("OK");
  }

  hear(data) {
    this.live();
    if (typeof data === "string") {
      if (data.startsWith("{")) return this.hears.news(JSON.parse(data));
      for (const line of data.split("\n")) this.hearLine(line);
      return;
    }
    const kind = new Uint32Array(data, 0, 1)[0];
    if (kind === POSES) this.hears.poses(new Float32Array(data, 4));
    if (kind === PICTURE) this.hears.picture(new Blob([new Uint8Array(data, 4)], { type: "image/jpeg" }));
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
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(line);
    return true;
  }

  login(user, token) {
    Object.assign(this, { user, token });
    this.socket.close();
    this.patience = 50;
  }
}
