// Task markers: goals of running controllers, three numbers in m, as balls in the 3D view that can be dragged.
import * as THREE from "three";
import { DragControls } from "three/addons/controls/DragControls.js";

const IS_GOAL = /^(?<controller>[^:]+):(?<path>.*goal(_position)?)$/;

export class Markers {
  constructor(view, say) {
    Object.assign(this, { view, say, balls: new Map() });
    this.dragging = new DragControls([], view.camera, view.canvas);
    this.dragging.addEventListener("dragstart", ({ object }) => this.drag(object));
    this.dragging.addEventListener("drag", () => (view.changed = true));
    this.dragging.addEventListener("dragend", ({ object }) => this.drop(object));
  }

  /** parameters: as forms show them; those that are places become balls */
  show(parameters) {
    const places = parameters.filter(({ name, unit, value }) => IS_GOAL.test(name) && unit === "m" && value.split(" ").length === 3);
    for (const [name, ball] of this.balls) {
      if (places.some((each) => each.name === name)) continue;
      this.view.scene.remove(ball);
      this.balls.delete(name);
    }
    for (const { name, value } of places) {
      const ball = this.balls.get(name) ?? this.make(name);
      if (ball !== this.held) ball.position.set(...value.split(" ").map(Number));
    }
    this.dragging.objects = [...this.balls.values()];
    this.view.changed = true;
  }

  make(name) {
    const material = new THREE.MeshStandardMaterial({ color: 0xfab005, transparent: true, opacity: 0.8 });
    const ball = new THREE.Mesh(new THREE.SphereGeometry(0.035, 20, 14), material);
    ball.name = name;
    this.balls.set(name, ball);
    this.view.add(ball);
    return ball;
  }

  drag(ball) {
    this.held = ball;
    this.view.controls.enabled = false;
  }

  drop(ball) {
    this.held = null;
    this.view.controls.enabled = true;
    this.move(ball.name, ball.position.toArray());
  }

  move(name, place) {
    this.say(`SET ${name} ${place.map((each) => each.toFixed(3)).join(" ")}`);
  }
}
