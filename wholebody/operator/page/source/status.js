// Who is connected, where the robot is and how it is: what is shown and not touched.
import { element, item, rounded } from "./elements.js";
import { SIDES } from "./map.js";

const FEET = { left: "walks, on the left foot", right: "walks, on the right foot", both: "walks, on both feet" };

const LATE = 0.3; // s
const OLD = 1; // s after which a picture is not what the camera sees

export class Status {
  connection(state) {
    const texts = { connecting: "connecting…", connected: "connected", lost: "connection lost – trying again" };
    element("connection").textContent = texts[state];
    document.body.dataset.connection = state;
  }

  /** seconds from here to the robot and back; a quick line is not worth a word */
  roundTrip(seconds) {
    if (document.body.dataset.connection !== "connected") return;
    element("connection").textContent = seconds < LATE ? "connected" : `connected, ${rounded(seconds, 1)} s there and back`;
  }

  role(user, role) {
    element("role").textContent = role === "observer" ? "viewer" : role;
    document.body.dataset.role = role;
    element("login").hidden = role !== "observer";
  }

  situation({ place, head, legs, cannot_walk }) {
    element("position").textContent = `${rounded(place.x, 2)}, ${rounded(place.y, 2)} m`;
    element("sure").textContent = `${rounded(100 * place.confidence, 0)} %`;
    element("heading").textContent = `${rounded((180 / Math.PI) * place.yaw, 0)}°`;
    element("speed").textContent = `${rounded(place.speed, 2)} m/s`;
    for (const side of SIDES) element(side).textContent = place.around[side] === null ? "free" : rounded(place.around[side], 2);
    element("looks").textContent = `${rounded((180 / Math.PI) * head.pan, 0)}° left, ${rounded((180 / Math.PI) * head.tilt, 0)}° up`;
    element("legs").textContent = legs === null ? cannot_walk || "the walking controller starts" : legs.trouble || (legs.standing ? "stands" : FEET[legs.bearing] ?? legs.bearing);
  }

  /** seconds; null if there was never a picture */
  pictureAge(age) {
    const old = age !== null && age > OLD;
    const text = age === null ? "no picture" : age < OLD ? `${rounded(1000 * age, 0)} ms` : `${Math.floor(age)} s old`;
    element("picture-age").textContent = text;
    element("old").textContent = old ? text : "";
    document.body.classList.toggle("old-picture", old);
  }

  health({ condition, robot, rate, missed, age, controllers, faults, stopped }) {
    element("robot").textContent = robot;
    element("condition").textContent = condition;
    document.body.dataset.condition = condition.split(/[ ,]/)[0];
    element("rate").textContent = `${rounded(rate, 0)} Hz`;
    element("missed").textContent = missed;
    element("age").textContent = age === null ? "no state" : `${rounded(1000 * age, 0)} ms`;
    const moved = controllers.map((each) => `${each.name} (${rounded(each.rate, 0)} Hz)`);
    element("controllers").textContent = moved.length ? moved.join(", ") : "nobody";
    element("resume").hidden = !stopped;
    element("faults").replaceChildren(...faults.map((fault) => item(fault)));
  }

  /** What the robot has noticed; beside what it asks, the last of it is what it asks about. */
  remark(text) {
    element("remarks").append(item(text));
    while (element("remarks").children.length > 4) element("remarks").firstChild.remove();
    element("remarks").scrollTop = element("remarks").scrollHeight;
  }

  say(text) {
    element("said").textContent = text;
  }
}
