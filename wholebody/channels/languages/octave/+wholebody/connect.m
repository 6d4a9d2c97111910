% robot = wholebody.connect ()
% robot = wholebody.connect (name, controller)
%
% Connect to the robot of a name ('robot'), as a controller of a name of one's own ('octave').
%
%   robot = wholebody.connect ('robot', 'wave');
%   state = robot.latest ();                          a struct: state.position, state.time, state.imu(1).orientation
%   state = robot.latest ({'time', 'position'});      these fields alone, in a fraction of the time
%   [state, is_new] = robot.wait (2.0);               the next state; is_new is false if none came within 2 s
%   [state, is_new] = robot.wait (2.0, {'position'});
%   joint = robot.joint ('RSP');                      its number, or those of {'RSP', 'REB'}
%   robot.put (joint, 0.3);                           command these joints, rad, and leave all others alone
%   robot.put (reference);                            a whole reference: a struct with mask, mode, position, velocity ...
%   numbers = robot.info ();                          sequence, age (s), missed and missed_total of the newest state
%   gripper = robot.service ('gripper');              see: help wholebody.service
%   reach = robot.parameters ('reach');               see: help wholebody.parameters
%   robot.joints                                      the names of its joints; robot.imus, robot.force_torques: of sensors
%   robot.close ();
%
% Errors name the channel and what to do. Whatever is told, the daemon's gate decides what the robot does.
function robot = connect (name, controller)
  if (nargin < 1)
    name = 'robot';
  end
  if (nargin < 2)
    controller = 'octave';
  end
  if (~ wholebody_channel ('alive', [name '.tick']))
    error ('wholebody:robot', 'no robot called ''%s'' is running; start one, for instance: wholebody start', name);
  end
  states = wholebody_channel ('reader', [name '.state']);
  references = wholebody_channel ('writer', [name '.' controller '.reference'], [name '.commanded']);
  joints = wholebody_channel ('labels', states, 'joints');
  robot = struct ('name', name, 'controller', controller, 'joints', {joints});
  robot.imus = wholebody_channel ('labels', states, 'imus');
  robot.force_torques = wholebody_channel ('labels', states, 'force_torques');
  robot.joint = @ (names) wholebody.index (joints, names, name);
  robot.latest = @ (varargin) wholebody_channel ('latest', states, varargin{:});
  robot.wait = @ (seconds, varargin) wholebody_channel ('wait', states, seconds, varargin{:});
  robot.put = @ (varargin) wholebody_channel ('command', references, states, varargin{:});
  robot.info = @ () told (wholebody_channel ('info', states));
  robot.service = @ (service) wholebody.service ([name '.' service]);
  robot.parameters = @ (of) wholebody.parameters (of, name);
  robot.close = @ () cellfun (@ (each) wholebody_channel ('close', each), {states, references});
  wholebody_channel ('wait', states, 2.0, {});
end

function numbers = told (info)
  numbers = struct ('sequence', info(1), 'age', info(2), 'missed', info(3), 'missed_total', info(4));
end
