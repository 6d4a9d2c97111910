% Read the left elbow and the left foot, and move two joints: Hubo-Ach's simple demo.
%
%   wholebody start --filter "smooth 20"
%   wholebody octave install
%   octave --eval "addpath ~/.local/share/wholebody/octave examples/simple_demo; simple_demo"
robot = wholebody.connect ('robot', 'simple');
state = robot.latest ();
fprintf ('Joint = %f\n', state.position(robot.joint ('LEB')));
fprintf ('Mx = %f\n', state.force_torque(strcmp (robot.force_torques, 'left_foot')).torque(1));
robot.put (robot.joint ({'LEB', 'RSP'}), [-0.2 0.1]);
