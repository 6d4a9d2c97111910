"""Cameras: colour and depth of what the robot's cameras see, or one that follows the robot."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from wholebody.errors import BadSimulation
from wholebody.robots.robot import Array
from wholebody.simulation.world import World

TRACKING = "tracking"
LARGEST_PICTURE = 1920


@dataclass(frozen=True)
class View:
    """From where the following camera looks at the robot: degrees, and the distance in sizes of the robot."""

    azimuth: float = 120.0
    elevation: float = -14.0
    distance: float = 1.8


PORTRAIT = View(145.0, -12.0, 1.35)


class Cameras:
    """Renders a world. OpenGL belongs to a thread: only the one that made it may use it."""

    def __init__(self, world: World, view: View) -> None:
        self._world = world
        self._thread = threading.get_ident()
        self._renderers: dict[tuple[int, int], Any] = {}
        self.view = view
        low, high = _extent(world)
        width, depth, height = high - low
        self._size = float(max(height, 1.4 * max(width, depth)))
        self._middle = float(low[2] + high[2]) / 2 / max(float(world.data.xpos[world.at.root][2]), 0.01)

    def image(self, camera: str, width: int, height: int) -> npt.NDArray[np.uint8]:
        """Colours."""
        renderer = self._renderer(camera, width, height)
        picture: npt.NDArray[np.uint8] = renderer.render()
        return picture

    def depth(self, camera: str, width: int, height: int) -> npt.NDArray[np.float32]:
        """Metres."""
        renderer = self._renderer(camera, width, height)
        renderer.enable_depth_rendering()
        try:
            picture: npt.NDArray[np.float32] = renderer.render()
        finally:
            renderer.disable_depth_rendering()
        return picture

    def close(self) -> None:
        """Let go of OpenGL."""
        for renderer in self._renderers.values():
            renderer.close()
        self._renderers.clear()

    def _renderer(self, camera: str, width: int, height: int) -> Any:
        if threading.get_ident() != self._thread:
            raise BadSimulation("a camera belongs to the thread that used it first; take pictures there")
        if not (1 <= width <= LARGEST_PICTURE and 1 <= height <= LARGEST_PICTURE):
            raise BadSimulation(f"a picture of {width} × {height}; give 1 to {LARGEST_PICTURE} pixels each way")
        if (width, height) not in self._renderers:
            self._renderers[width, height] = _new_renderer(self._world.model, width, height)
        renderer = self._renderers[width, height]
        mujoco.mj_camlight(self._world.model, self._world.data)
        renderer.update_scene(self._world.data, self._tracking() if camera == TRACKING else camera)
        return renderer

    def _tracking(self) -> Any:
        """A camera that keeps the robot in the middle, also when it lies on the ground."""
        camera = mujoco.MjvCamera()
        camera.type = mujoco.mjtCamera.mjCAMERA_FREE
        x, y, z = self._world.data.xpos[self._world.at.root]
        camera.lookat[:] = x, y, z * self._middle if z > 0 else 0.5 * self._size
        camera.azimuth, camera.elevation = self.view.azimuth, self.view.elevation
        camera.distance = self.view.distance * self._size
        return camera


def _new_renderer(model: Any, width: int, height: int) -> Any:
    # The whole buffer is cleared for every picture, so it is made no larger than that.
    model.vis.global_.offwidth, model.vis.global_.offheight = width, height
    try:
        return mujoco.Renderer(model, height, width)
    except (mujoco.FatalError, RuntimeError, ImportError, AttributeError) as error:
        raise BadSimulation(
            f"no picture can be drawn here: {error}; set MUJOCO_GL to egl, osmesa or glfw before mujoco is imported, "
            "or import wholebody.simulation first"
        ) from error


def _extent(world: World) -> tuple[Array, Array]:
    """Lowest and highest x, y, z of the robot, with the spheres around its geoms."""
    model, data = world.model, world.data
    geoms = [geom for geom in range(model.ngeom) if int(model.geom_bodyid[geom]) in world.links]
    if not geoms:
        return np.full(3, -0.5), np.full(3, 0.5)
    middle, radius = data.geom_xpos[geoms], model.geom_rbound[geoms][:, None]
    return (middle - radius).min(axis=0), (middle + radius).max(axis=0)
