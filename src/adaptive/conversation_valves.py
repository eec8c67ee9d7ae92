"""What an admin may set about the turn before and after its answer, and about past conversation."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adaptive.lenient import valve_notes
from adaptive.privacy_valves import PrivacyValves

HistoryReach = Literal["off", "chat", "all"]
HarmfulMode = Literal["off", "note", "warn"]

_BEFORE = "Before the answer"
_AFTER = "After the answer"
_HISTORY = "Past conversation"


class ConversationValves(PrivacyValves):
    """Privacy first, then model calls beside the answer, past conversation, and clean answers."""

    enable_preprocessing: bool = Field(
        default=False,
        description=(
            "Ask the model for learning about each message before it is answered: what to search "
            "for, its language, and whether it calls for care."
        ),
        json_schema_extra=valve_notes(
            _BEFORE,
            "A fast model is at hand, and questions as `and when was that?` find too little.",
        ),
    )
    preprocess_timeout_seconds: float = Field(
        default=1.5,
        ge=0.1,
        le=30,
        description=(
            "Longest wait for pre-processing, in seconds, within `inlet_timeout_seconds` and "
            "beside the judging model's time; then the message is answered as without it."
        ),
        json_schema_extra=valve_notes(
            _BEFORE, "The model is slower, and its help is worth waiting."
        ),
    )
    preprocess_prompt: str = Field(
        default="",
        description=(
            "Replaces the built-in pre-processing prompt (`prompts/preprocess.md`); empty: "
            "built in."
        ),
        json_schema_extra=valve_notes(_BEFORE, "Your model follows other words better."),
    )
    name_chats: bool = Field(
        default=True,
        description=(
            "With pre-processing, give a new chat the title it finds, where Open WebUI's own title "
            "generation is switched off. A title that somebody has chosen stays."
        ),
        json_schema_extra=valve_notes(_BEFORE, "The first message shall stay the title."),
    )
    prompt_injection_threshold: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description=(
            "With `enable_preprocessing`: from this chance of prompt injection on the chat model "
            "is warned, and nothing is learned from the message; 0: never."
        ),
        json_schema_extra=valve_notes(
            _BEFORE,
            "Your users talk about prompts a lot (raise), or paste strangers' texts (lower).",
        ),
    )
    harmful_message: HarmfulMode = Field(
        default="note",
        description=(
            "With `enable_preprocessing`: what is done about a message that may be harmful. "
            "`note` it in log and audit, `warn` the chat model too, or nothing (`off`). It is "
            "answered in any case."
        ),
        json_schema_extra=valve_notes(_BEFORE, "Young people are among your users (`warn`)."),
    )
    harmful_message_threshold: float = Field(
        default=8.0,
        ge=0,
        le=10,
        description="From this score (0 to 10) on a message counts as harmful; 0: never.",
        json_schema_extra=valve_notes(_BEFORE, "It is noted too often, or too seldom."),
    )
    enable_postprocessing: bool = Field(
        default=False,
        description=(
            "Ask the model for learning about each answered turn, in the background: a summary and "
            "tags of the chat, what to ask next, and facts to learn."
        ),
        json_schema_extra=valve_notes(
            _AFTER, "You recall past conversation, or want suggestions of what to ask next."
        ),
    )
    postprocess_timeout_seconds: float = Field(
        default=30.0,
        ge=1,
        le=600,
        description="Longest time for post-processing, in seconds. The answer never waits for it.",
        json_schema_extra=valve_notes(_AFTER, "The model is slow."),
    )
    postprocess_prompt: str = Field(
        default="",
        description=(
            "Replaces the built-in post-processing prompt (`prompts/postprocess.md`); empty: "
            "built in."
        ),
        json_schema_extra=valve_notes(_AFTER, "Your model follows other words better."),
    )
    suggest_follow_ups: bool = Field(
        default=True,
        description=(
            "With `enable_postprocessing`: show up to 6 suggestions of what to ask next, where "
            "Open WebUI's own are switched off."
        ),
        json_schema_extra=valve_notes(_AFTER, "Nobody uses them."),
    )
    harmful_answer_threshold: float = Field(
        default=8.0,
        ge=0,
        le=10,
        description=(
            "With `enable_postprocessing`: from this score (0 to 10) on an answer is flagged in "
            "status, log and audit; it is never rewritten. 0: never."
        ),
        json_schema_extra=valve_notes(_AFTER, "It is flagged too often, or too seldom."),
    )
    clean_answers: bool = Field(
        default=True,
        description=(
            "Take stray marks of the model (`<|im_end|>`, `</s>`...) and endlessly repeated JSON "
            "out of the stored answer."
        ),
        json_schema_extra=valve_notes(_AFTER, "Your users discuss such marks as plain text."),
    )
    validate_links: bool = Field(
        default=False,
        description=(
            "Check the links of an answer in the background, and turn broken ones into searches. "
            "The server then asks the linked sites."
        ),
        json_schema_extra=valve_notes(_AFTER, "The chat models make links up."),
    )
    link_search_address: str = Field(
        default="https://duckduckgo.com/?q=%s",
        description="The search that a broken link leads to; the text takes the place of `%s`.",
        json_schema_extra=valve_notes(_AFTER, "You prefer another search engine."),
    )
    history_recall: HistoryReach = Field(
        default="all",
        description=(
            "How far past conversation may be recalled: not at all, the same `chat` beyond what "
            "the model still sees, or `all` chats of the user. Users choose for themselves. "
            "Switched off, the index stays unread until a user says `Forget everything about me`."
        ),
        json_schema_extra=valve_notes(_HISTORY, "What was said in a chat must stay there."),
    )
    history_recall_default: HistoryReach = Field(
        default="off",
        description="What holds for users whose own `history_recall` is `default`.",
        json_schema_extra=valve_notes(
            _HISTORY, "Everybody's assistant should recall past conversation."
        ),
    )
    history_tokens: int = Field(
        default=2000,
        ge=100,
        le=100_000,
        description="Most tokens of past conversation in a prompt.",
        json_schema_extra=valve_notes(
            _HISTORY, "The chat model's window is small (lower), or answers need more (raise)."
        ),
    )
    enable_history_topics: bool = Field(
        default=True,
        description=(
            "Summarise finished topics (a pause of 5 hours, or 400 messages) with the model for "
            "learning, and find messages by them, too."
        ),
        json_schema_extra=valve_notes(_HISTORY, "Model calls are dear."),
    )
    enable_history_summary: bool = Field(
        default=False,
        description=(
            "Let the model for learning summarise past conversation against the question where "
            "more fits than `history_tokens` hold."
        ),
        json_schema_extra=valve_notes(
            _HISTORY, "A fast model is at hand, and the budget is small."
        ),
    )
    history_summary_timeout_seconds: float = Field(
        default=2.0,
        ge=0.1,
        le=30,
        description=(
            "Longest wait for that summary, in seconds; then the best messages stand there "
            "themselves."
        ),
        json_schema_extra=valve_notes(_HISTORY, "The model is slower."),
    )
    history_summary_prompt: str = Field(
        default="",
        description=(
            "Replaces the built-in prompt for that summary (`prompts/summarise_history.md`); "
            "empty: built in."
        ),
        json_schema_extra=valve_notes(_HISTORY, "Your model follows other words better."),
    )
    similar_past_chats: int = Field(
        default=3,
        ge=0,
        le=10,
        description=(
            "With `all`, show the model so many former chats that are like a new one; 0: none."
        ),
        json_schema_extra=valve_notes(_HISTORY, "The prompt should stay short."),
    )
    history_cache_megabytes: int = Field(
        default=128,
        ge=8,
        le=65_536,
        description="Memory for the keyword indexes of past conversation, of all users together.",
        json_schema_extra=valve_notes(_HISTORY, "Many people with long histories chat at once."),
    )
    max_context_tokens: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        description=(
            "Longest request to the chat model in tokens: chat, memories and past conversation "
            "together. The oldest turns give way first, to a summary and to what is recalled, down "
            "to half of it; then past conversation, then memories; core memories and the newest "
            "turn never do. 0: no limit. Nothing is done where Open WebUI compacts chats itself."
        ),
        json_schema_extra=valve_notes(
            _HISTORY, "Long chats exceed the model's window, or cost too much."
        ),
    )
    log_measures: bool = Field(
        default=True,
        description=(
            "Write two lines per turn to the log, before and behind the answer: milliseconds of "
            "each stage, calls, tokens, outcomes; no texts."
        ),
        json_schema_extra=valve_notes("Operation", "The log must stay short."),
    )
