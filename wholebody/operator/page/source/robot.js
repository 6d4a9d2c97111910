// A robot in the scene: its links by the joints between them, and the shapes on them.
import * as THREE from "three";
import { COLORS } from "./colors.js";

const shapes = {
  box: ([x, y, z]) => new THREE.BoxGeometry(x, y, z),
  sphere: ([r]) => new THREE.SphereGeometry(r, 24, 16),
  capsule: ([r, h]) => new THREE.CapsuleGeometry(r, h, 8, 20).rotateX(Math.PI / 2),
  cylinder: ([r, h]) => new THREE.CylinderGeometry(r, r, h, 28).rotateX(Math.PI / 2),
};

function place(object, { xyz, quaternion }) {
  object.position.set(...xyz);
  object.quaternion.set(...quaternion);
  return object;
}

export class Robot {
  /** description: /robot.json; ghost: whether it is where the robot was told to be, not where it is. */
  constructor(description, ghost) {
    this.root = new THREE.Group();
    this.joints = [];
    const links = new Map();
    const material = ghost
      ? new THREE.MeshStandardMaterial({
          ...{ color: COLORS.goal, transparent: true, opacity: 0.28, depthWrite: false },
          ...{ polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 }, // behind the robot, where both are
        })
      : new THREE.MeshStandardMaterial({ color: 0xced4da, roughness: 0.55, metalness: 0.15 });
    for (const link of description.links) {
      const group = new THREE.Group();
      for (const shape of link.shapes) {
        const geometry = shapes[shape.kind]?.(shape.size);
        if (geometry) group.add(place(new THREE.Mesh(geometry, material), shape.at));
      }
      links.set(link.name, group);
    }
    this.root.add(links.get(description.root));
    for (const joint of description.joints) {
      const frame = place(new THREE.Group(), joint.at);
      const child = links.get(joint.child);
      frame.add(child);
      links.get(joint.parent).add(frame);
      if (joint.kind !== "fixed") this.joints.push({ ...joint, child, axis: new THREE.Vector3(...joint.axis).normalize() });
    }
  }

  /** base: x, y, z and a quaternion x, y, z, w; positions: of the moving joints, in the robot's order. */
  show(base, positions) {
    this.root.position.set(base[0], base[1], base[2]);
    this.root.quaternion.set(base[3], base[4], base[5], base[6]);
    for (const { kind, child, axis, index, ratio, offset } of this.joints) {
      const value = ratio * positions[index] + offset;
      if (kind === "prismatic") child.position.copy(axis).multiplyScalar(value);
      else child.quaternion.setFromAxisAngle(axis, value);
    }
  }
}
