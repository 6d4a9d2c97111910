// The operator page: what the robot was told, where it is, how it is, and the stop.
import { Line } from "./line.js";
import { Panel } from "./panel.js";
import { Robot } from "./robot.js";
import { View } from "./view.js";

const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
const description = await (await fetch("/robot.json")).json();
const count = description.count;
const view = new View(document.getElementById("view"));
const measured = new Robot(description, false);
const told = new Robot(description, true);
view.add(measured.root);
view.add(told.root);

const panel = new Panel({
  stop: () => panel.say(line.say({ do: "stop" }) ? "stop sent" : "not connected: the stop was not sent"),
  resume: () => panel.say(line.say({ do: "resume" }) ? "resume sent" : "not connected"),
});
document.getElementById("ghost").onchange = (event) => {
  told.root.visible = event.target.checked;
  view.changed = true;
};

window.wholebody = { poses: 0, view }; // counted for whoever looks whether the page lives

const line = new Line(token, {
  onState: (state) => panel.connection(state),
  onPose: (data) => {
    const numbers = new Float32Array(data);
    const base = numbers.subarray(0, 7);
    measured.show(base, numbers.subarray(7, 7 + count));
    told.show(base, numbers.subarray(7 + count, 7 + 2 * count));
    view.changed = true;
    window.wholebody.poses += 1;
  },
  onNews: (news) => {
    if (news.role) panel.role(news.role);
    if (news.health) panel.health(news.health);
    if (news.joints) panel.joints(news.joints);
    if (news.events) panel.events(news.events);
    if (news.said) panel.say(news.said);
  },
});
