% parameters = wholebody.parameters (controller, robot)
%
% The parameters of a controller that runs, such as one of `wholebody run`.
%
%   reach = wholebody.parameters ('reach', 'robot');
%   value = reach.get ('tasks.right_hand.stiffness');
%   value = reach.set ('tasks.right_hand.goal', [0.4 -0.2 1.0]);     an error, and no change, if it is out of bounds
%   reach.close ();
%
% `wholebody params` lists paths, units and bounds.
function parameters = parameters (controller, robot)
  if (nargin < 2)
    robot = 'robot';
  end
  asked = wholebody.service ([robot '.' controller '.parameters']);
  parameters = struct ('controller', controller);
  parameters.get = @ (path) numbers (asked.ask ('get', struct ('path', path)));
  parameters.set = @ (path, value) numbers (asked.ask ('set', struct ('path', path, 'values', counted (value))));
  parameters.close = asked.close;
end

function values = counted (value)
  items = zeros (1, 256);
  if (~ isnumeric (value) && ~ islogical (value) || numel (value) > 256)
    error ('wholebody:parameter', 'a value is at most 256 numbers');
  end
  items(1:numel (value)) = double (value(:)');
  values = struct ('count', numel (value), 'items', items);
end

function value = numbers (report)
  value = report.answer.values.items(1:report.answer.values.count);
end
