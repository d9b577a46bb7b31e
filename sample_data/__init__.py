"""Hold a few real pages of a public Spack build cache, to try, to test and to read about."""
