"""Check which specs run on a host, and which Spack would reuse there."""
