"""One YAML file describes a controller: how it is read, checked and built, and configurations that are ready to run."""
