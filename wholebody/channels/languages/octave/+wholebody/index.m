% numbers = wholebody.index (joints, names)
%
% The numbers of joints by their names: one name, or a cell array of them. robot.joint (names) does the same.
function numbers = index (joints, names, robot)
  if (ischar (names))
    names = {names};
  end
  numbers = zeros (1, numel (names));
  for i = 1:numel (names)
    found = find (strcmp (joints, names{i}));
    if (isempty (found))
      if (nargin < 3)
        robot = 'robot';
      end
      error ('wholebody:joint', 'the robot ''%s'' has no joint ''%s''; it has %s', robot, names{i}, strjoin (joints, ', '));
    end
    numbers(i) = found;
  end
end
