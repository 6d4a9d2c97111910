// Task markers: where the tasks of running controllers want objects to be, in orange, and where those are, in white; each
// a ball if a place counts, axes if a turn does, an arrow if a direction does. An orange ball can be dragged.
import * as THREE from "three";
import { DragControls } from "three/addons/controls/DragControls.js";
import { COLORS } from "./colors.js";

const [GOAL, ACTUAL] = [COLORS.goal, COLORS.actual];
const LONG = 0.12; // m, of axes and arrows

export class Markers {
  constructor(view, say) {
    Object.assign(this, { view, say, shown: new Map() });
    this.dragging = new DragControls([], view.camera, view.canvas);
    this.dragging.recursive = false;
    this.dragging.addEventListener("dragstart", ({ object }) => this.drag(object));
    this.dragging.addEventListener("drag", () => (view.changed = true));
    this.dragging.addEventListener("dragend", ({ object }) => this.drop(object));
  }

  /** markers: as the news has them */
  show(markers) {
    for (const [name, { goal, actual, way }] of this.shown) {
      if (markers.some((each) => each.name === name)) continue;
      for (const object of [goal, actual, way]) this.view.remove(object);
      this.shown.delete(name);
    }
    for (const marker of markers) this.put(this.shown.get(marker.name) ?? this.make(marker), marker);
    this.dragging.objects = [...this.shown.values()].map(({ goal }) => goal).filter((goal) => goal.userData.marker.parameter);
    this.view.changed = true;
  }

  put({ goal, actual, way }, marker) {
    goal.userData.marker = marker;
    if (goal !== this.held) place(goal, marker.goal);
    place(actual, marker.actual);
    way.geometry.setFromPoints([goal.position, actual.position]);
    goal.material.opacity = marker.enabled ? 0.8 : 0.25;
  }

  make({ name, goal, actual }) {
    const way = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: GOAL }));
    way.frustumCulled = false; // its points move
    const made = { goal: ball(goal, 0.035, GOAL, LONG), actual: ball(actual, 0.018, ACTUAL, 0.7 * LONG), way };
    for (const object of Object.values(made)) this.view.add(object);
    if (goal.point) this.view.labels.add(made.goal, name.split(":")[1], 0.05);
    this.shown.set(name, made);
    return made;
  }

  drag(ball) {
    this.held = ball;
    this.view.controls.enabled = false;
  }

  /** The goal is said as the task has it: seen from its reference. */
  drop(ball) {
    this.held = null;
    this.view.controls.enabled = true;
    const { parameter, reference } = ball.userData.marker;
    const turn = new THREE.Quaternion(...reference.orientation).invert();
    const seen = ball.position.clone().sub(new THREE.Vector3(...reference.position)).applyQuaternion(turn);
    this.say(`SET ${parameter} ${seen.toArray().map((each) => each.toFixed(3)).join(" ")}`);
  }
}

function ball({ point, orientation, direction }, radius, color, long) {
  const material = new THREE.MeshStandardMaterial({ color, transparent: true, opacity: 0.8 });
  const made = new THREE.Mesh(new THREE.SphereGeometry(point ? radius : radius / 3, 20, 14), material);
  if (orientation) made.add(new THREE.AxesHelper(long));
  if (direction) made.add(new THREE.ArrowHelper(new THREE.Vector3(0, 0, 1), new THREE.Vector3(), long, color));
  return made;
}

function place(object, { position, orientation, direction }) {
  object.position.set(...position);
  if (orientation) object.quaternion.set(...orientation);
  if (direction) object.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...direction).normalize());
  object.updateMatrixWorld(); // so that it can be held before it is drawn
}
