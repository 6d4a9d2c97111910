% Wave with the right arm for some seconds and take it down again, from wherever it is.
%
%   wholebody start        (or: wholebody start --driver mini, or --driver full)
%   wholebody octave install
%   cd examples; octave --eval "addpath ~/.local/share/wholebody/octave; wave (6)"
%
% The same file moves every robot: a joint that it lacks is left out, with one warning (Mini-Hubo has no RWY).
function wave (seconds, name)
  if (nargin < 1)
    seconds = 6;
  end
  if (nargin < 2)
    name = 'robot';
  end
  names = {'RSP', 'RSR', 'REB', 'RWY'};
  goals = [-0.8 -0.6 -1.4 0.4];
  swings = [0 0.25 0 0];
  robot = wholebody.connect (name, 'wave');
  there = ismember (names, robot.joints);
  for missing = names(~ there)
    fprintf (2, 'wave: this robot has no joint ''%s'', so references to it are left out\n', missing{1});
  end
  arm = robot.joint (names(there));
  [state, is_new] = robot.wait (2.0);
  start = state.position(arm);
  begin = state.time;
  while (is_new && state.time - begin < seconds)
    t = state.time - begin;
    share = min ([1, 2 * t / seconds, 4 * (1 - t / seconds)]);
    up = 0.5 - 0.5 * cos (pi * share);
    goal = goals(there) + swings(there) * sin (2 * pi * t);
    robot.put (arm, start + up * (goal - start));
    [state, is_new] = robot.wait (2.0, {'time'});
  end
  if (~ is_new)
    error ('wave: no state for 2 s; does the robot run? see: wholebody status');
  end
  robot.put (arm, start);
  robot.close ();
end
