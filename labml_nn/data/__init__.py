r"""
---
title: Data
summary: Text to learn from, and the loss that a model has to beat on it.
order: [characters, trigram, texts, download]
---
# Data

Before a network can be better than something, two things have to be settled: on what text, and
better than what. They are a few lines each, and decide what every number on the other pages
means.

Here both are, from the name of a text to the loss to beat:

>>> from labml_nn.data import load
>>> from labml_nn.data.trigram import TrigramModel
>>> dataset = load("pydoc_topics")
>>> model = TrigramModel.fit(dataset.train, n_tokens=len(dataset.vocabulary))
>>> 1.6 < model.loss(dataset.valid) < 2.0
True

**Where to begin.**

1. [Text as numbers](characters.html) turns text into batches, and keeps the part for validation
   out of everything. The traps there are quiet ones.
2. [The trigram](trigram.html) says what a loss means, and what counting alone achieves. Read it
   even if you never train anything.
3. [Texts](texts.html) are what the experiments train on. One comes with Python.
4. [Downloads](download.html) is about the other one, and about half files.
"""

from labml_nn.data.characters import CharacterDataset, Vocabulary
from labml_nn.data.texts import load

__all__ = ["CharacterDataset", "Vocabulary", "load"]
