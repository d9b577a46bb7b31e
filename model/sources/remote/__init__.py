"""Places far away: how their files are brought to this machine, and kept there."""
