"""One folder a source document: each claim, our number and a verdict. Uses the public API only."""
