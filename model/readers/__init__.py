"""Turn the bytes of a document into records.

`formats.read_document` is the facade. A document goes through `unpack`, and then `json` or `yaml`,
to the reader of its format: `pages`, or one of `formats`, whose nodes `nodes` reads.
"""
