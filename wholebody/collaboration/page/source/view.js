// The 3D view: ground, light, a camera that the pointer turns. Drawn when something changed, and not otherwise.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

export class View {
  constructor(canvas) {
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
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
    this.frames = 0;
    this.changed = true;
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.renderer.setAnimationLoop(() => this.draw());
  }

  add(object) {
    this.scene.add(object);
    this.changed = true;
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    this.changed = true;
  }

  draw() {
    if (!this.changed) return;
    this.changed = false;
    this.renderer.render(this.scene, this.camera);
    this.frames += 1;
  }
}
