"""Limits of the content of documents, so that none takes all memory or all time.

The largest index of Spack's public build cache has some 60,000 specs. With 20 dependencies each
they are 206 MB of JSON with 14 million values, of which gzip makes 20 MB. Together the limits
keep what any one document takes below about 2.5 GB.
"""

from __future__ import annotations

MAX_TEXT_SIZE = 2**28
"""Bytes of a text that is not all ASCII, of which Python may need 4 for each."""

MAX_VALUES = 10_000_000
"""Values of JSON that are in memory at once: of a database no more than a record is."""

MAX_PAGE_VALUES = 30_000_000
"""Values of a page, which is read record by record where they are too many to be held at once."""

MAX_YAML_VALUES = 100_000
"""Values of YAML, where an alias counts for all that it refers to."""

MAX_RECORD_LENGTH = 2**23
"""Characters of a record in a database; one with 10,000 dependencies has 2 million."""

MAX_RECORDS = 2_000_000
"""Records of a document, with the different dependencies and variants that they have."""

TOO_MANY_RECORDS = f"it has more than {MAX_RECORDS:,} records, dependencies and variants"

MAX_PROBLEMS = 10_000
"""Problems of a document that are listed; the others are counted."""

MAX_DEPTH = 32
"""Nesting at which YAML is refused; real pages use three levels."""

MAX_KEYS = 10_000
"""Keys of the front matter of a page; real pages have six."""
