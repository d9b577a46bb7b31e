"""Find the specs that come nearest to one."""
