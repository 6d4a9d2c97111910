// Objects that were seen, in the 3D view: each as thick as it looks, with its name, in a ball where it is with 95 %.
import * as THREE from "three";
import { COLORS } from "./colors.js";

const HEIGHT = 0.24; // m; how tall an object is nobody has measured
const ABOVE = 0.03; // m, of its name
const SIGMAS = 2.8; // of a ball that has 95 % of a normal distribution in three dimensions

export class SeenObjects {
  constructor(view) {
    Object.assign(this, { view, shown: new Map() });
  }

  /** objects: as the news has them */
  show(seen) {
    for (const [name, group] of this.shown) {
      if (seen.some((each) => each.name === name)) continue;
      this.view.remove(group);
      this.shown.delete(name);
    }
    for (const item of seen) this.put(this.shown.get(item.name) ?? this.make(item.name), item);
    this.view.changed = true;
  }

  put(group, { position, radius, deviation, accurate, visible }) {
    const [post, ball] = group.children;
    group.position.set(...position);
    post.scale.set(radius, HEIGHT, radius);
    ball.scale.setScalar(radius + SIGMAS * deviation);
    for (const each of [post, ball]) each.material.color.set(accurate ? COLORS.sure : COLORS.unsure);
    post.material.opacity = visible ? 0.9 : 0.4;
  }

  make(name) {
    const glass = { transparent: true, depthWrite: false };
    const post = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 20), new THREE.MeshStandardMaterial({ transparent: true }));
    post.rotateX(Math.PI / 2);
    const ball = new THREE.Mesh(new THREE.SphereGeometry(1, 24, 16), new THREE.MeshStandardMaterial({ ...glass, opacity: 0.3 }));
    const group = new THREE.Group().add(post, ball);
    this.view.labels.add(group, name, HEIGHT / 2 + ABOVE);
    this.shown.set(name, group);
    this.view.add(group);
    return group;
  }
}
