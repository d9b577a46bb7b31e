"""Write records to the SQLite file that catalogs are read from."""
