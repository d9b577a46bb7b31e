"""What a user can set: command line, environment and configuration files, merged."""
