"""What runs as a process of its own: begun by commands, found by the channels that it writes."""

HELP = {
    "name": "Name of the robot, with which its channels begin; 'robot' unless given.",
    "robot": "A robot by name (see `wholebody robots`), or a YAML, URDF or MJCF file.",
    "scene": "What stands around a simulated robot: flat, ramp, hall …; with parameters: ramp:angle=0.05,ahead=0.5",
    "self_collision": "Which links collide with each other: usual (not those that jam by their shapes), all, none.",
    "seed": "Of everything that is random: the same seed, the same run.",
    "stabilizer": "How the robot keeps its balance: a stabilizer by name, or FILE.py:CLASS.",
    "controller": "The controller's name, if several run; daemon for its filters.",
    "bindings": "Parameters and their topics, as JSON.",
    "behavior": "What it is to be able to do: a behaviour by name, or FILE.py:CLASS (docs/behaviors.md).",
    "endpoint": "Where other machines ask, HOST:PORT.",
    "folder": "Where to write the film.",
    "insecure": "Let others in without TLS and token, on a network of your own.",
    "log": "The file that what it says goes into, which is to be kept small.",
    "member": "Which part of the demo: robot, wave or nod.",
    "plan": "What to run, as `wholebody start` writes it.",
    "until": "The process with which this one ends.",
}
"""What options mean, of processes as of commands."""
