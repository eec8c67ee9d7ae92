"""A twin of the host's embedding model whose weights take half the bytes, for short texts.

Embedding one message takes the time that it takes to read the model's weights from memory: with
half of the bytes it is done in two thirds of the time (``benchmarks/README.md``).
"""

from __future__ import annotations

import copy
import logging
import sys
import warnings
from typing import Any

import numpy as np

log_half_precision = logging.getLogger("adaptive_memory.host")

# The twin's weights are kept besides the host's, two bytes for each parameter of a linear layer.
_MOST_PARAMETERS = 50_000_000
_COMPARED_TEXTS = (
    "Which train should we take to see my grandmother on Saturday?",
    "Schreib bitte eine kurze Einladung zum Geburtstag.",
    "sort a list of tuples by the second element in python",
)
_LEAST_AGREEMENT = 0.999


def half_precision_twin(model: Any) -> Any | None:
    """A model that makes the same vectors as the given one, ``None`` where there is none.

    Takes a SentenceTransformer of at most 50 million parameters on the processor, within half a
    second. What is no linear layer is shared with the given model. (torch: dynamic quantisation
    with weights in float16, which only x86 processors have.)
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        return None
    parameters = list(model.parameters())
    plain = all(one.device.type == "cpu" and one.dtype == torch.float32 for one in parameters)
    if not plain or not 0 < sum(one.numel() for one in parameters) <= _MOST_PARAMETERS:
        return None
    shared = {id(one): one for one in (*parameters, *model.buffers())}
    try:
        with warnings.catch_warnings():
            # Its successor is a package of its own, which hosts do not have.
            warnings.simplefilter("ignore")
            twin = copy.deepcopy(model, shared)
            quantisation = torch.ao.quantization
            rules = {torch.nn.Linear: quantisation.float16_dynamic_qconfig}
            quantisation.quantize_dynamic(twin, rules, dtype=torch.float16, inplace=True)
            agreement = _agreement(model, twin)
    except (AttributeError, ImportError, NotImplementedError, RuntimeError, TypeError) as error:
        log_half_precision.info("messages are embedded by the host's own model: %s", error)
        return None
    if not agreement >= _LEAST_AGREEMENT:
        log_half_precision.info("messages are embedded by the host's own model: %r", agreement)
        return None
    return twin


def _agreement(model: Any, twin: Any) -> float:
    """The least cosine between both models' vectors of some texts."""
    ours, theirs = (
        np.asarray(one.encode(list(_COMPARED_TEXTS), show_progress_bar=False), np.float64)
        for one in (model, twin)
    )
    lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    return float(np.min(np.sum(ours * theirs, axis=1) / lengths))
