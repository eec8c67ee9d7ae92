"""A small stand-in for a language model, so that memory can be tried without any key.

``statements`` reads simple English statements, ``extraction`` and ``answers`` play the two roles
in which Adaptive Memory meets a model, ``service`` speaks the OpenAI protocol around them.
"""
