"""Pictures of the results: recall against entries and abstention, latency against memories."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from benchmarks.figures import RESULTS, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    "filter": "tab:blue",
    "host memory": "tab:orange",
    "empty filter": "tab:gray",
    "vector": "tab:orange",
    "BM25": "tab:green",
    "0.8 cosine + 0.2 BM25": "tab:red",
    "ours": "tab:blue",
}
# In the figures of latency nothing is faster than the clock is steady.
LEAST_MS = 0.1


def _results(name: str) -> dict[str, Any]:
    path = RESULTS / f"{name}.json"
    if not path.is_file():
        sys.exit(f"{path.name} is missing: python -m benchmarks {name}")
    return json.loads(path.read_text(encoding="utf-8"))


def recall_against_entries(axes: Axes) -> None:
    """Recall@k of the rankings, and what arrives in the prompt through a real host."""
    variants = _results("recall")["variants"]
    for name in ("vector", "BM25", "0.8 cosine + 0.2 BM25", "ours"):
        shares = variants[name]["recall_at_1_to_20"]
        axes.plot(
            range(1, len(shares) + 1), shares, color=COLOURS[name], label=name
        )
    prompted = _results("host_recall")["messages"]["plain questions"]
    for name, found in prompted.items():
        point = (found["entries_mean"], found["share_of_gold"])
        label = f"in the prompt, Open WebUI 0.12.4: {name}"
        axes.plot(
            *point,
            "*",
            markersize=14,
            color=COLOURS[name],
            label=label,
            linestyle="none",
        )
    axes.set(
        xlabel="entries",
        ylabel="share of gold",
        ylim=(0, 1),
        xticks=range(0, 21, 2),
    )
    axes.set_title("LoCoMo, five conversations, all-MiniLM-L6-v2")


def recall_against_abstention(axes: Axes) -> None:
    """Share of gold against entries for off-topic prompts, one point for each gate."""
    results = _results("recall")
    points = results["curve"]
    across = [point["off_topic_entries"] for point in points]
    shares = [point["share_of_gold"] for point in points]
    axes.plot(across, shares, marker="o", color=COLOURS["ours"], label="ours")
    for point in points:
        if point["gate"] in (0, 3, *results["gates"], 7, 8):
            at = (point["off_topic_entries"], point["share_of_gold"])
            axes.annotate(
                f"{point['gate']:g}",
                at,
                xytext=(0, 7),
                textcoords="offset points",
                fontsize=8,
            )
    axes.set_xscale("symlog", linthresh=0.05)
    axes.set_xlim(-0.005, 12)
    axes.margins(y=0.1)
    axes.set_xticks([0, 0.05, 0.1, 1, 8], ["0", "0.05", "0.1", "1", "8"])
    axes.axvline(
        8,
        color=COLOURS["host memory"],
        linestyle=":",
        label="the host's own memory: 8",
    )
    axes.set(
        xlabel="entries for an off-topic prompt, mean",
        ylabel="share of gold, at most 10",
    )
    small, large = results["gates"]
    axes.set_title(
        f"One point for each gate; {small:g} in a small store, {large:g} in a large one"
    )


def latency_against_memories(axes: Axes) -> None:
    """Time added before the model's request, against nothing in the same run."""
    sizes = _results("latency")["memories"]
    numbers = [int(size) for size in sizes if size != "0"]
    for name in ("host memory", "filter", "empty filter"):
        added = [
            sizes[str(number)][name]["added_ms"]["median"]
            for number in numbers
        ]
        shown = [max(one, LEAST_MS) for one in added]
        axes.plot(numbers, shown, marker="o", color=COLOURS[name], label=name)
        for number, value, text in zip(numbers, shown, added, strict=True):
            axes.annotate(
                f"{text:.0f}",
                (number, value),
                xytext=(0, 6 if name == "host memory" else -12),
                textcoords="offset points",
                fontsize=8,
            )
    axes.set(xscale="log", yscale="log", xlabel="memories of the user")
    axes.margins(0.1)
    axes.set_ylabel("added before the model's request, ms, median")
    axes.set_title(
        "Against a turn without memory or filter; Open WebUI 0.12.4"
    )


PICTURES = {
    "recall_against_entries": recall_against_entries,
    "recall_against_abstention": recall_against_abstention,
    "latency_against_memories": latency_against_memories,
}


def main() -> None:
    """Draw ``results/*.png`` from the JSON files beside them."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        sys.exit("plots need matplotlib: pip install -e '.[dev]'")
    for name, draw in PICTURES.items():
        figure, axes = pyplot.subplots(figsize=(7, 4.5))
        draw(axes)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
        figure.tight_layout()
        path = RESULTS / f"{name}.png"
        figure.savefig(path, dpi=130, metadata={"Software": None})
        pyplot.close(figure)
        say(f"drawn: {path.name}")


if __name__ == "__main__":
    main()
