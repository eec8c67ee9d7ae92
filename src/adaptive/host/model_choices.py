"""The models that the host knows, as choices of a valve in its panel."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence

from adaptive.errors import HostError
from adaptive.host.faults import HostFaults
from adaptive.plain_markdown import clipped_line
from adaptive.shapes import mapping
from adaptive.valves import ModelChoice

log_model_choices = logging.getLogger("adaptive_memory.host")

_MOST_CHOICES = 500
_LONGEST_CHOICE = 120


class HostModels:
    """A ``ModelCatalogue`` of the host's models.

    ``saved`` tells the value that is in force, ``known`` what the host has in memory: nobody waits
    for anything here, so while the host starts, and before anybody has asked for its list of
    models, there is none (host: main.py, app.state.MODELS).
    """

    def __init__(
        self, saved: Callable[[], str], known: Callable[[], Sequence[object]] | None = None
    ) -> None:
        self._saved = saved
        self._known = known or models_in_memory

    def choices(self) -> list[ModelChoice]:
        """The models by name, and the saved one even if the host does not know it now."""
        try:
            with HostFaults("listing the models"):
                labels = _labels(self._known())
        except HostError as error:
            log_model_choices.info("%s", error)
            labels = {}
        saved = self._saved().strip()
        if saved and saved not in labels:
            labels = {saved: f"{saved} (not available now)", **labels}
        return [{"value": id, "label": label} for id, label in labels.items()]


def models_in_memory() -> list[object]:
    """The models that the running host has in memory, as it describes them."""
    app = getattr(sys.modules.get("open_webui.main"), "app", None)
    models = getattr(getattr(app, "state", None), "MODELS", None)
    return list(models.values()) if models else []


def _labels(models: Sequence[object]) -> dict[str, str]:
    """Labels by id in their order; an arena draws a model by chance and is left out."""
    labels: dict[str, str] = {}
    for model in map(mapping, models):
        id, name = str(model.get("id") or ""), str(model.get("name") or "")
        if id and not model.get("arena") and model.get("owned_by") != "arena":
            label = id if name in ("", id) else f"{name} ({id})"
            labels[id] = clipped_line(label, _LONGEST_CHOICE)
    ordered = sorted(labels.items(), key=lambda one: (one[1].casefold(), one[0]))
    return dict(ordered[:_MOST_CHOICES])
