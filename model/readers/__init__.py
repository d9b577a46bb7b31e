"""Turn the bytes of a document into records.

`detect.read_document` is the facade. A document goes from `encoding` through `json`, `yaml` or
`front_matter` to the reader of its format (`cache_pages`, `spack_database`, `lockfile`,
`spec_file`, `spack_find`, all in `nodes`; `manifest` for mirrors). All but pages consist of the
nodes that `spec_node` reads, with `parameters`, `dependencies` and the checks of `fields`.
"""
