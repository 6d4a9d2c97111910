% service = wholebody.service (name)
%
% Ask another process of the robot, once each, or give it goals that take time.
%
%   walking = wholebody.service ('robot.walking');
%   goal = walking.send ('walk', struct ('forward', 0.5));    returns at once
%   report = walking.wait (goal, 30);                         an error if it is rejected, preempted or cancelled, or fails
%   report = walking.report (goal);                           report.stage: 'waiting' until somebody acknowledged it
%   walking.cancel (goal);
%   report = walking.ask ('stand', struct ());                send, and wait up to 5 s
%   walking.kinds                                             what can be asked
%   walking.close ();
%
% Fields that are not given are zero, or empty. A request that nobody acknowledged is sent again while one waits for it.
% report.answer has the numbers of services that answer with some. Only the newest reports of other requests are kept.
function service = service (name)
  if (~ wholebody_channel ('alive', [name '.replies']))
    error ('wholebody:service', '''%s'' does not run; see: wholebody status', name);
  end
  requests = wholebody_channel ('writer', [name '.requests']);
  replies = wholebody_channel ('reader', [name '.replies']);
  wholebody_channel ('latest', replies, {});
  kinds = wholebody_channel ('labels', requests, 'kinds');
  empty = wholebody_channel ('message', requests);
  % A number is the client's identity and 24 bits that count; a double holds 29 bits of identity with them.
  said = containers.Map ('KeyType', 'double', 'ValueType', 'any');
  last = containers.Map ({'number'}, {(1 + floor (rand () * (2 ^ 29 - 2))) * 2 ^ 24});
  self = struct ('name', name, 'requests', requests, 'replies', replies, 'kinds', {kinds}, 'empty', empty, ...
                 'said', said, 'last', last);
  service = struct ('name', name, 'kinds', {kinds});
  service.send = @ (kind, varargin) send (self, kind, varargin{:});
  service.report = @ (number) report_of (self, number);
  service.wait = @ (number, varargin) wait_for (self, number, varargin{:});
  service.ask = @ (kind, varargin) wait_for (self, send (self, kind, varargin{:}), 5);
  service.cancel = @ (number) send (self, 'cancel', struct ('number', number));
  service.close = @ () cellfun (@ (each) wholebody_channel ('close', each), {requests, replies});
end

function number = send (self, kind, fields)
  index = find (strcmp (self.kinds, kind));
  if (isempty (index))
    error ('wholebody:service', '''%s'' knows no ''%s''; it knows %s', self.name, kind, strjoin (self.kinds, ', '));
  end
  hear (self);
  number = self.last('number') + 1;
  self.last('number') = number;
  request = self.empty;
  request.number = number;
  request.after = 0;
  request.kind = index - 1;
  if (nargin > 2)
    request = filled (request, kind, fields);
  end
  wholebody_channel ('put', self.requests, request);
  self.said(number) = struct ('number', number, 'stage', 'waiting', 'text', '', 'progress', NaN, 'request', request);
end

function request = filled (request, kind, fields)
  given = fieldnames (fields);
  for i = 1:numel (given)
    if (~ isfield (request, kind) || ~ isfield (request.(kind), given{i}))
      error ('wholebody:service', '''%s'' has no field ''%s''', kind, given{i});
    end
    request.(kind).(given{i}) = fields.(given{i});
  end
end

function hear (self)
  [reply, is_new] = wholebody_channel ('next', self.replies);
  while (is_new)
    keep (self, reply);
    [reply, is_new] = wholebody_channel ('next', self.replies);
  end
end

function keep (self, reply)
  stages = {'rejected', 'accepted', 'running', 'succeeded', 'failed', 'cancelled', 'preempted'};
  if (~ isKey (self.said, reply.number) || is_final (getfield (self.said(reply.number), 'stage')))
    return;
  end
  report = struct ('number', reply.number, 'stage', stages{reply.stage + 1}, 'text', reply.text, ...
                   'progress', reply.progress, 'time', reply.time);
  if (isfield (reply, 'answer'))
    report.answer = reply.answer;
  end
  self.said(reply.number) = report;
end

function yes = is_final (stage)
  yes = ~ any (strcmp (stage, {'waiting', 'accepted', 'running'}));
end

function report = report_of (self, number)
  hear (self);
  if (~ isKey (self.said, number))
    error ('wholebody:service', 'nothing was asked under number %g', number);
  end
  report = self.said(number);
end

function report = wait_for (self, number, seconds)
  if (nargin < 3)
    seconds = 120;
  end
  begun = tic ();
  asked = tic ();
  while (true)
    report = report_of (self, number);
    if (strcmp (report.stage, 'succeeded'))
      return;
    elseif (is_final (report.stage))
      error ('wholebody:goal', '''%s'': %s %s', self.name, report.stage, report.text);
    elseif (toc (begun) > seconds)
      error ('wholebody:service', '''%s'' has not done it within %g s; it is %s', self.name, seconds, report.stage);
    end
    [reply, is_new] = wholebody_channel ('wait_next', self.replies, 0.1);
    if (is_new)
      keep (self, reply);
    elseif (~ wholebody_channel ('alive', [self.name '.replies']))
      error ('wholebody:service', '''%s'' has ended; see: wholebody status', self.name);
    elseif (strcmp (report.stage, 'waiting') && toc (asked) > 0.25)
      wholebody_channel ('put', self.requests, report.request);
      asked = tic ();
    end
  end
end
