"""Index the records of Spack build caches and answer questions about them."""
