% wholebody: channels, services and parameters of a robot, from Octave and MATLAB.
%
%   wholebody.connect       read the state of a robot, and move it
%   wholebody.service       ask another process, and give it goals
%   wholebody.parameters    read and set the parameters of a controller
%   wholebody.index         numbers of joints by their names
