"""The configuration of the user's own Spack, as far as it names sources."""
