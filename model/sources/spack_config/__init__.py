"""Read the mirrors and install trees that the user's Spack is configured with."""
