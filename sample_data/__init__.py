"""Hold a few real pages of a public Spack build cache, an index, and an environment, to try."""
