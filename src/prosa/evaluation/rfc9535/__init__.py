"""JSONPath of RFC 9535: a text is parsed into a path, and a path finds values in an output. Pure, and bounded."""
