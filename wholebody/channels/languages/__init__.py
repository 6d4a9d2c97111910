"""Channels from other languages: what C, C++, Octave and MATLAB need to share them."""
