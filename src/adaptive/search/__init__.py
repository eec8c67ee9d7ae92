"""Finding near texts: embedders, vectors, similarity."""
