// The operator page: where the robot is and was told to be, what it sees and does; and how one tells it what to do.
// STOP and the line to the robot come first: they must work whatever becomes of the rest.
import { Drive, typing } from "./drive.js";
import { allow, element, explain, loaded } from "./elements.js";
import { Hands } from "./hands.js";
import { Line } from "./line.js";
import { Machine, Machines } from "./machine.js";
import { GroundMap } from "./map.js";
import { Markers } from "./markers.js";
import { Orders } from "./orders.js";
import { Overlay } from "./overlay.js";
import { Panels } from "./panels.js";
import { Robot } from "./robot.js";
import { SeenObjects } from "./seen.js";
import { Status } from "./status.js";
import { View } from "./view.js";
import { Warnings } from "./warnings.js";

const LOOK = 10; // degrees of one press
const asked = new URLSearchParams(location.hash.slice(1)); // token, and view=off for machines without a graphics card
const token = asked.get("token") ?? "";
const WELCOME = {
  observer: "Welcome. You look on, and may STOP; log in to take control.",
  operator: "Welcome. Take control, and the robot does what you say.",
};
const status = new Status();
const warnings = new Warnings(element("warnings"));
let [session, role] = [0, "observer"];

const say = (line) => {
  if (!line.startsWith("DRIVE")) status.say(line);
  if (!link.say(line)) status.say(`not connected: '${line}' was not sent`);
};
explain((why) => status.say(`Not now: ${why}.`));
element("stop").onclick = () => say("STOP");
element("resume").onclick = () => say("RESUME");
window.addEventListener("keydown", (event) => {
  if (event.key === "Escape") say("STOP");
  const look = { KeyI: "UP", KeyK: "DOWN", KeyJ: "LEFT", KeyL: "RIGHT" }[event.code];
  const other = event.ctrlKey || event.metaKey || event.altKey;
  if (look && !other && !typing(event.target)) say(`MOVE HEAD ${look} ${LOOK} DEGREES`);
});
element("login").onsubmit = (event) => {
  event.preventDefault();
  link.login(element("user").value, element("token").value);
};

const hears = {
  state: (state) => status.connection(state),
  role: (user, given) => {
    role = given;
    status.role(user, role);
    status.say(WELCOME[role] ?? WELCOME.operator);
    hears.rights();
  },
  line: (text) => {
    if (text.startsWith("OK NOTIFY")) return;
    const [, warning] = text.match(/^NOTIFY warning (.*)/) ?? [];
    const [, remark] = text.match(/^NOTIFY (?:event )?((?<=event ).*|control lost.*)/) ?? [];
    if (warning) warnings.add(warning);
    else if (remark) status.remark(remark);
    else if (!text.startsWith("SELECT STRATEGY")) status.say(text); // which is asked in words
  },
  news: (news) => {
    if (news.session) session = news.session;
    if (news.round_trip !== undefined) status.roundTrip(news.round_trip);
    if (news.commands) warnings.now(news.commands.troubles);
    hears.more(news);
  },
  ...{ rights: () => {}, more: () => {}, poses: () => {}, picture: () => {} }, // until there is something to show them on
};
const link = new Line({ token, user: "operator" }, hears);

const description = await (await fetch("/robot.json")).json();
const count = description.count;
const view = new View(element("view"), asked.get("view") === "off");
element("undrawn").textContent = view.undrawn;
const [measured, told] = [new Robot(description, false), new Robot(description, true)];
view.add(measured.root);
view.add(told.root);
view.addBlocks(description.map);

const orders = new Orders(say, ...["server", "queue"].map((name) => new Machine(element("machine"), description.machines[name])));
const drive = new Drive(say);
const map = new GroundMap(element("map"), description.map, (x, y) => say(`GOTO ${x} ${y}`));
const overlay = new Overlay(element("seen"), element("picture"), (x, y) => map.choose({ x, y }), (name) => say(`GOTO OBJECT(${name})`));
const markers = new Markers(view, say);
const seen = new SeenObjects(view);
const machines = new Machines("machines");
const hands = new Hands(say, description.map, description.cannot.grasp);
const panels = new Panels(description.panels, (object) => link.send(object));
element("from-behind").onchange = ({ target }) => view.lookFromBehind(target.checked);
element("ghost").onchange = ({ target }) => view.show(told.root, target.checked);
for (const button of document.querySelectorAll("[data-look]")) button.onclick = () => say(`MOVE HEAD ${button.dataset.look} ${LOOK} DEGREES`);

/** What people may press now; where they may not, why. */
function permit(cannotWalk) {
  const others = orders.mine ? "" : role === "observer" ? "log in with a token first" : "take control first";
  const legs = description.cannot.walk || others || cannotWalk;
  for (const button of document.querySelectorAll("[data-drive]")) allow(button, legs);
  const turns = description.movements.HEAD ?? [];
  for (const button of document.querySelectorAll("[data-look]")) {
    const never = turns.length ? `this robot's head does not turn ${button.dataset.look.toLowerCase()}` : "this robot's head does not turn";
    allow(button, turns.includes(button.dataset.look) ? others : never);
  }
  const hints = new Set([legs, turns.length ? others : "this robot's head does not turn"].filter(Boolean));
  const text = [...hints].join("; ");
  if (element("why").textContent !== text) element("why").textContent = text;
}

const counters = { poses: 0, pictures: 0, view, map, drive, overlay, markers, hands, objects: seen, measured, told }; // for whoever looks whether the page lives
window.wholebody = counters;

Object.assign(hears, {
  rights: () => {
    orders.role(role);
    panels.tell();
  },
  poses: (numbers) => {
    const base = numbers.subarray(0, 7);
    measured.show(base, numbers.subarray(7, 7 + count));
    told.show(base, numbers.subarray(7 + count, 7 + 2 * count));
    const [qx, qy, qz, qw] = base.subarray(3, 7);
    view.follow(base[0], base[1], Math.atan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz)));
    counters.poses += 1;
  },
  picture: async (blob) => {
    await loaded(element("picture"), blob);
    document.body.dataset.camera = "on";
    view.makeRoom();
    counters.pictures += 1;
  },
  more: (news) => {
    if (news.commands) {
      orders.show(news.commands, session, news.underway);
      drive.enabled = orders.mine && !description.cannot.walk;
      permit(news.cannot_walk);
      drive.speeds = news.speeds;
      map.show(news.place, news.seen);
      seen.show(news.seen);
      markers.show(news.markers);
      machines.show(news.machines);
      hands.show(news.seen, news.held, news.place, orders.mine);
      overlay.show(news.seen, news.camera_view);
      status.situation(news);
      status.pictureAge(news.picture_age);
    }
    if (news.health) status.health(news.health);
    if (news.panel) panels.show(news);
  },
});
hears.rights();
