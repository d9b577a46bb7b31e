"""Write records to the file of columns that catalogs are read from, and read it."""
