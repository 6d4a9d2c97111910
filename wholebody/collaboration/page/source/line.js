// The line to the robot: poses as numbers, everything else as JSON. It comes back by itself when it is cut.
export class Line {
  constructor(token, { onPose, onNews, onState }) {
    Object.assign(this, { token, onPose, onNews, onState, patience: 500 });
    this.open();
  }

  open() {
    this.onState("connecting");
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/line`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.say({ token: this.token });
    this.socket.onmessage = ({ data }) => {
      if (typeof data !== "string") return this.onPose(data);
      const news = JSON.parse(data);
      if (news.role) {
        this.patience = 500;
        this.onState("connected");
      }
      this.onNews(news);
    };
    this.socket.onclose = () => {
      this.onState("lost");
      setTimeout(() => this.open(), this.patience);
      this.patience = Math.min(5000, 2 * this.patience);
    };
  }

  say(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }
}
