// The 3D view: ground, light, a camera that the pointer turns and that goes along with the robot. Drawn when something
// changed, and so seldom that there is time left for keys: a machine without a graphics card takes long for a picture.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { COLORS } from "./colors.js";
import { Labels } from "./labels.js";

const FASTEST = 40; // ms from picture to picture, at least
const ASIDE = 0.22; // of the width
const SHARE = 3; // and so many times as long as one takes, by how late the browser asks for the next

export class View {
  /** off: nothing is drawn, for machines that are too slow for it; undrawn says why nothing is, if so */
  constructor(canvas, off) {
    this.canvas = canvas;
    this.undrawn = off ? "the 3D view is off" : "";
    this.renderer = off ? null : this.drawer();
    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color(0x1a1d21);
    this.camera = new THREE.PerspectiveCamera(40, 1, 0.05, 100);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(2.2, -1.8, 1.4);
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x495057, 1.6));
    const sun = new THREE.DirectionalLight(0xffffff, 2.0);
    sun.position.set(3, -2, 6);
    this.scene.add(sun);
    this.scene.add(new THREE.GridHelper(10, 20, 0x5c636a, 0x343a40).rotateX(Math.PI / 2));
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.target.set(0, 0, 0.6);
    this.controls.addEventListener("change", () => (this.changed = true));
    this.controls.update();
    this.labels = new Labels(canvas.parentElement, this.camera, [...canvas.parentElement.querySelectorAll(".camera, .legend")]);
    this.frames = 0;
    this.next = this.asked = this.pace = 0;
    this.aside = 0;
    this.behind = false;
    this.changed = true;
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.renderer?.setAnimationLoop(() => this.draw());
  }

  drawer() {
    try {
      return new THREE.WebGLRenderer({ canvas: this.canvas, antialias: true });
    } catch {
      this.undrawn = "no 3D view: this browser has no WebGL";
      return null;
    }
  }

  add(object) {
    this.scene.add(object);
    this.changed = true;
  }

  remove(object) {
    this.scene.remove(object);
    this.labels.remove(object);
    this.changed = true;
  }

  lookFromBehind(behind) {
    this.behind = behind;
    this.controls.enableRotate = !behind;
  }

  show(object, visible) {
    object.visible = visible;
    this.changed = true;
  }

  addBlocks({ walls, objects }) {
    const material = new THREE.MeshStandardMaterial({ color: COLORS.place, transparent: true, opacity: 0.35, depthWrite: false });
    for (const { x, y, length, width, yaw } of [...walls, ...objects]) {
      const block = new THREE.Mesh(new THREE.BoxGeometry(length, width, 0.6), material);
      block.position.set(x, y, 0.3);
      block.rotation.z = yaw;
      this.add(block);
    }
  }

  /** Goes along with the robot; from behind, it turns with it, too, and looks over its shoulders. */
  follow(x, y, yaw) {
    if (this.behind) {
      const [ahead, aside] = [Math.cos(yaw), Math.sin(yaw)];
      const height = this.controls.target.z;
      this.controls.target.set(x + 0.8 * ahead, y + 0.8 * aside, height);
      this.camera.position.set(x - 2.2 * ahead, y - 2.2 * aside, height + 1.1);
      this.controls.update();
      this.changed = true;
      return;
    }
    const [dx, dy] = [x - this.controls.target.x, y - this.controls.target.y];
    if (Math.hypot(dx, dy) > 0.02) {
      this.controls.target.x += dx;
      this.controls.target.y += dy;
      this.camera.position.x += dx;
      this.camera.position.y += dy;
      this.controls.update();
    }
    this.changed = true;
  }

  /** The robot goes to the left, beside the camera's picture. */
  makeRoom() {
    if (this.aside) return;
    this.aside = ASIDE;
    this.resize();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    this.renderer?.setSize(width, height, false);
    if (this.aside) this.camera.setViewOffset(width, height, this.aside * width, 0, width, height);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    this.changed = true;
  }

  draw() {
    const now = performance.now();
    this.pace = 0.8 * this.pace + 0.2 * (now - this.asked);
    this.asked = now;
    if (!this.changed || now < this.next) return;
    this.changed = false;
    this.renderer.render(this.scene, this.camera);
    this.labels.place();
    this.frames += 1;
    this.next = performance.now() + Math.max(FASTEST, this.pace > 30 ? SHARE * this.pace : 0);
  }
}
