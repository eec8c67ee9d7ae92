"""Why some functions that take a text are not called: each is bounded, or hands the text on."""

from __future__ import annotations

from collections.abc import Mapping

# Coroutines by the pattern of their names. What they do with a text by themselves is done by plain
# functions, each of which has a place of its own.
COROUTINES: Mapping[str, str] = {
    "They are steps of a hook, which call plain functions and other steps.": """
        filter.Filter.*
        answer.*
        control.numbers.NumberedMemories.*
        control.places.*
        control.requests.MemoryRequests.*
        control.turn.CommandTurn.answer
        core.runtime.measured_part
        core.runtime.Foreground.*
        history.conversation.PastConversation.ranked
        history.finding.ChatFinder.*
        learn.confirmation.*
        learn.exam.examination
        learn.extraction.extraction
        learn.extraction.shown_memories
        learn.learning.Learning.*
        learn.lesson.*
        learn.suggestions.*
        learn.outdated.*
        learn.judges.may_hold_fact
        learn.queue.LearningQueue.*
        settings.hook.Hook.*
        settings.hook.StatusLines.*
        learn.suggestions.Suggestions.*
        learn.summaries.*
        memory.archive.*
        memory.user_memory.*
        memory.writing.*
        recall.judge.RelevanceJudge.*
        recall.recall.*
        recall.chat_state.ChatState.*
        recall.question.embedded_question
        recall.question._embedded_thoughts
    """,
    "They hand rows, lines, files or requests to the host, its database or a page.": "host.*",
    "They hand a request to a model or a service.": """
        core.providers.post_json
        llm.ask.ask
        llm.endpoints.*.complete
        llm.ask.ask_fields
        privacy.redaction.*
        privacy.redacted_chat.RedactedTurns.redact
    """,
    "They hand texts to an embedder, or know them by their hashes.": """
        search.vectors.EmbedderRests.ask
        search.embedders.*.embed
        core.embedding.*
        search.embedders.encoded
        search.fingerprints.*
        search.index.*
        search.vectors.*
    """,
    "They hand entries to a table, or to the store behind the gate.": """
        memory.audit.*
        memory.gate.Gate.*
        memory.suggestion_table.*
        memory.tables.*
        memory.turn_table.*
    """,
}

# Plain functions by their whole names.
FUNCTIONS: Mapping[str, str] = {
    "Its texts are sentences and quotations of a reply, none of which is longer than a few kB; all "
    "that is grounded of a reply is measured as `learn.grounding.screened`.": """
        learn.grounding.Claim.of
        learn.judges.weighed
        learn.proposals._evidence
        learn.support.Source.*
        learn.support.noted_line
        learn.support.says_again
        learn.support.without_unsaid_relation
        learn.addressing.allowed
        learn.entailment.*
        learn.addressing.readdressed
        learn.grounding.gated
        learn.grounding.grounded
        learn.addressing.without_many_deletions
        learn.grounding.grounding_refusal
        learn.figures.Figures.*
        learn.figures._decimal_fraction
        learn.figures._digit_values
        learn.figures._han_value
        learn.figures._roman_value
        learn.numerals.*
        learn.support.spelled_out
        learn.support._expansion
        learn.quotation.*
        learn.support.Vocabulary.*
        learn.duplicates._reconciled_change
        learn.judges._judged
        learn.judges.judged_facts
        learn.judges.lasts
        learn.judges.is_about_identity
        learn.proposals._evidence
        learn.outdated.far_reaching_changes
        learn.outdated.without_changes_of_later
        learn.outdated._is_near_its_kind
    """,
    "It compares ids, hashes, dates or vectors, and reads no text.": """
        search.calibration.SharedVectors.rows
        search.calibration.WeightedExamples.weights_of
        search.calibration.ComparedExamples.scores
        search.calibration.Judges.evidence
        core.messages.branch_to
        memory.erasure.period_of
        history.section._day
        host.hook.HostHook.typed_to
        learn.judges.may_tell
        learn.turns.by_model
        learn.summaries.related_clusters
        learn.addressing.placed
        memory.archive._archived_change
        memory.archive.leaving_first
        memory.archive.restored_scope
        memory.erasure.Origin.holds
        memory.erasure.came_from
        memory.erasure.origin_ids
        memory.erasure.bereft_originals
        recall.placement._entries_of
        recall.explanation._coming
        recall.explanation._reason_to_stay
        recall.question.*
        recall.selection.*
        search.index.MemoryIndex.vectors_of
        search.index.MemoryIndex.with_vectors
        search.index._ranking_of
        settings.merged.HiddenMemories.holds
        settings.merged.HiddenMemories.without
    """,
    "It hands the text on, and does nothing else with it.": """
        answer.correction.AnswerCorrection.has_links
        answer.preprocessing.flag_message
        core.model.Proposal.decided
        core.model.each_open
        answer.postprocessing.answered_turn
        control.requests.change_log
        control.requests._item
        control.requests.numbered_item
        recall.explanation._named
        control.requests.costs_told
        host.memories._is_written
        control.entries._fits
        control.entries._rules
        core.marks._without_mark
        host.memory_rows.memory_fields
        host.memory_vectors._held
        memory.audit.ChangeKey.written
        privacy.redacted_chat.RedactedTurns.restore_answer
        privacy.redacted_chat.RedactedTurns.restore_event
        privacy.redaction.Redaction.redact
        privacy.redaction.Redaction.restore
        recall.block.withheld_reason
        recall.judge.read_relevance
        recall.judge._relevance_request
        host.database._*_table
        recall.recall.Recall.sent
        recall.prompt.TurnBlocks.added
        recall.prompt.PromptBlocks.of
        recall.prompt.with_blocks
        privacy.redacted_chat.RedactedTurns.restored
        recall.chat_so_far.*
        recall.chat_state.ChatState.keep
        recall.placement.placed_again
        recall.placement.with_texts
        recall.prompt._joined
        recall.placement.rendered_blocks
    """,
    "Its text is one of ours, a name, or the match of a form that is bounded.": """
        control.turn.for_example
        control.places._named
        control.places.PlaceCommands.notes
        core.texts._filled
        core.texts._phrases
        core.marks.Tagged.tags_in
        core.marks.Place.admits
        core.marks.Place.choice
        core.marks.Place.quotes
        settings.valves.describe_valves
        learn.exam.ExamQuestion.*
        learn.exam.exam_questions
        core.model.failure_told
        llm.ask.AnswerFormats.check_quota
        core.messages.mapping
        core.runtime.Foreground.begin_answer
        privacy.scanning.any_of
        privacy.personal_data._*
        privacy.redaction._name_of
        search.tokens._without_a_letter
    """,
    "It reads no more than the first 160 characters of a message.": """
        privacy.spoken_requests._last_day
        privacy.spoken_requests._without_day
        privacy.spoken_requests.spoken_request
    """,
    "It is given no more than 400 characters of what stands around a noun.": """
        privacy.secrets._looks_chosen
        privacy.secrets._value_before
        privacy.secrets._value_behind
        privacy.secrets._is_password
    """,
    "Its two parts are replies that were read before, and are compared as values.": """
        llm.reply._joined
    """,
}
