"""The four wires as a model service speaks them: what each refuses, how a request is read, how a reply is written."""
