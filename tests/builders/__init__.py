"""Build the data that tests read: pages, Spack's documents, mirrors, catalogs."""
