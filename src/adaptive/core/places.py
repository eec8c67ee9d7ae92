"""Where a chat is, and what may be shown there of what belongs to folders and models."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote

# Of what is learned in a place: it is known everywhere, or there alone; and whether nothing else
# comes there.
PlaceChoice = Literal["everywhere", "here", "here only"]
# Of the signs of an id, as many as a mark has room for.
_LONGEST_ID = 100


def scope_of(kind: Literal["folder", "model"], host_id: str) -> str:
    """What a folder or a model of the host is called in marks; empty for none."""
    quoted = quote(host_id, safe="", errors="replace")[-_LONGEST_ID:]
    return quoted and f"{kind}={quoted}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chat is, by the scopes of its folder and its model, and what its user has chosen.

    ``choices`` are by scope; a folder that is not among them is as ``new_folders`` says. Of a chat
    whose place is not ``known`` nothing is shown or learned: it may be one that is kept apart.
    """

    folder: str = ""
    model: str = ""
    choices: Mapping[str, PlaceChoice] = field(
        default_factory=dict[str, PlaceChoice]
    )
    new_folders: PlaceChoice = "everywhere"
    known: bool = True

    def choice(self, scope: str) -> PlaceChoice:
        """What is chosen for a folder or a model."""
        is_folder = scope.startswith("folder=")
        otherwise = self.new_folders if is_folder else "everywhere"
        return self.choices.get(scope, otherwise)

    @property
    def is_divided(self) -> bool:
        """Whether not everything is known everywhere, or that can't be told."""
        is_chosen = bool(self.choices) or self.new_folders != "everywhere"
        return is_chosen or not self.known

    @property
    def only_scope(self) -> str:
        """The scope from which alone memories come: the folder's before the model's, or none."""
        return self._chosen("here only")

    @property
    def scope(self) -> str:
        """The scope of what is learned here, empty for everywhere."""
        return self.only_scope or self._chosen("here")

    def _chosen(self, choice: PlaceChoice) -> str:
        """The first of both scopes for which this is chosen, if any."""
        scopes = (self.folder, self.model)
        return next((one for one in scopes if self.choice(one) == choice), "")

    def admits(self, scope: str) -> bool:
        """Whether a memory of a scope, or of none, may be shown here: the one rule of places."""
        admitted = {"", self.folder, self.model}
        if self.only_scope:
            admitted = {self.only_scope}
        return self.known and scope in admitted

    def quotes(self, scopes: Collection[str]) -> bool:
        """Whether a past chat may be quoted here, by the scopes of its folder and its models."""
        if self.only_scope:
            return self.only_scope in scopes
        apart = {one for one in scopes if self.choice(one) != "everywhere"}
        return self.known and apart <= {self.folder, self.model}


NOWHERE = Place(known=False)
