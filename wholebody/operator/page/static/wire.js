// The wire to the robot, in a worker: a page that is busy with drawing is no reason to stop a robot that walks. It says
// a word several times a second, as long as the page answers it now and then; of poses and pictures the newest wins.
const WORD = 250; // ms from word to word
const HUNG = 5000; // ms without an answer of the page after which nobody can stop the robot there
const DEAF = 4000; // ms without a word of the robot after which the line counts as cut
const OPENING = 30000; // ms in which a line must open: a server that is busy, or far away, is not cut off before it answers

let socket = null;
let [answered, heard] = [0, 0];
let got = 0; // messages; the robot sends no more than a slow line can take when it knows
let introduced = false; // before who it is, a page has no word to say
const busy = new Map(); // kinds of bytes that the page has not taken yet, and the newest of each that came since

const tell = (what, data, transfer = []) => postMessage({ what, data }, transfer);

function open(address) {
  heard = performance.now();
  [introduced, got] = [false, 0];
  socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    heard = performance.now();
    tell("open");
  };
  socket.onclose = () => cut();
  socket.onmessage = ({ data }) => {
    heard = performance.now();
    socket.send(String(++got));
    if (typeof data === "string") tell("text", data);
    else show(new Uint32Array(data, 0, 1)[0], data);
  };
}

function cut() {
  if (!socket) return;
  socket.onopen = socket.onclose = socket.onmessage = null;
  socket.close();
  socket = null;
  busy.clear();
  tell("cut");
}

function show(kind, data) {
  if (busy.has(kind)) return busy.set(kind, data);
  busy.set(kind, null);
  tell("bytes", data, [data]);
}

function taken(kind) {
  const newest = busy.get(kind);
  busy.delete(kind);
  if (newest) show(kind, newest);
}

onmessage = ({ data: { what, data } }) => {
  answered = performance.now();
  if (what === "open") open(data);
  if (what === "cut") cut();
  if (what === "taken") taken(data);
  if (what === "say" && socket?.readyState === WebSocket.OPEN) {
    introduced = true;
    socket.send(data);
  }
};

setInterval(() => {
  const now = performance.now();
  tell("there?");
  if (socket && now - heard > (socket.readyState === WebSocket.OPEN ? DEAF : OPENING)) cut();
  if (introduced && socket?.readyState === WebSocket.OPEN && now - answered < HUNG) socket.send("OK");
}, WORD);
