"""The plug-in's parts, put together: the only place beside the filter that knows the host's."""

import time
from collections.abc import Callable, Coroutine
from functools import partial

from fastapi import Request

from adaptive.answer.correction import AnswerCorrection
from adaptive.answer.postprocessing import Postprocessor
from adaptive.answer.preprocessing import Preprocessor
from adaptive.control.about import AboutPage
from adaptive.control.commands import MemoryCommands
from adaptive.control.past_chats import PastChatCommands
from adaptive.control.turn import OncePerMessage, rememberable_messages
from adaptive.core import Foreground, forget_texts
from adaptive.history.conversation import PastConversation
from adaptive.history.finding import ChatFinder
from adaptive.history.indexing import HistoryIndex
from adaptive.host.doctor import diagnosis
from adaptive.host.embedding import warm_up
from adaptive.host.erasure import HostSweep, host_eraser
from adaptive.host.history_chats import HostPastChats
from adaptive.host.tables import HostTables, host_secret
from adaptive.host.vector_database import HostHistoryVectors
from adaptive.learn.learning import Learning
from adaptive.learn.past import PastLearning, PastRun
from adaptive.learn.suggestions import Suggestions
from adaptive.llm.ask import AnswerFormats
from adaptive.memory import Memories, ValueTable
from adaptive.privacy import Sealer
from adaptive.recall.recall import Recall
from adaptive.search import MemoryIndexes
from adaptive.settings import StatusLines


class Services:
    """What the hooks of an instance of the plug-in call; nothing in it belongs to one user.

    ``start`` runs work in the background, ``behind`` does work that no answer waits for.
    """

    def __init__(
        self,
        start: Callable[[Coroutine[None, None, None]], object],
        behind: Callable[..., None],
    ) -> None:
        self.foreground = Foreground()
        tables = HostTables(Sealer(host_secret()))
        indexes = MemoryIndexes()
        self.tables = tables
        self.indexes = indexes
        self.status = StatusLines()
        formats = AnswerFormats()
        memories = Memories(
            archive=tables.archive,
            trail=tables.audit,
            number_table=tables.numbers,
            give_way=self.foreground.give_way,
        )
        learning = Learning(
            indexes=indexes,
            pending=tables.pending,
            memories=memories,
            leases=tables.leases,
            costs=tables.costs,
            formats=formats,
            start=start,
            suggestions=Suggestions(tables.suggestions),
            foreground=self.foreground,
            status=self.status,
        )
        self.learning = learning
        history_vectors = HostHistoryVectors()
        self.sweep = HostSweep(tables, history_vectors)
        past_chats = HostPastChats()
        self.history = HistoryIndex(
            vectors=history_vectors,
            chats=past_chats,
            entries=tables.entries,
            leases=tables.leases,
            rememberable=rememberable_messages,
        )
        past = PastConversation(
            vectors=history_vectors,
            chats=past_chats,
            notes=tables.chat_notes,
            formats=formats,
            nulls=partial(indexes.shared.known, tables.vectors),
        )
        self.past_learning = PastLearning(
            learning=learning,
            chats=past_chats,
            runs=ValueTable(tables.entries, "past_run", PastRun, PastRun()),
            rememberable=rememberable_messages,
            behind=behind,
        )
        self.chat_finder = ChatFinder(
            past=past,
            chats=past_chats,
            leases=tables.leases,
            status=self.status,
        )
        preprocessor = Preprocessor(formats)
        self.recall = Recall(
            indexes=indexes,
            formats=formats,
            chats=tables.chats,
            notes=tables.chat_notes,
            behind=behind,
            asking=preprocessor.beside,
            past=past,
        )
        self.correction = AnswerCorrection()
        self.postprocessor = Postprocessor(
            formats=formats,
            notes=tables.chat_notes,
            learning=learning,
            status=self.status,
        )
        caches = (
            self.recall.forget,
            self.postprocessor.forget,
            forget_texts,
        )
        about = AboutPage(
            memories=memories,
            formats=formats,
            count_costs=learning.count_costs,
        )
        self.commands = MemoryCommands(
            memories=memories,
            learner=learning,
            eraser_of=partial(
                host_eraser,
                tables,
                self.history,
                caches,
                (learning.forget,),
            ),
            search=self.recall,
            costs=tables.costs,
            places=tables.places,
            diagnosis=partial(diagnosis, indexes=indexes),
            about=about.answer,
            once=OncePerMessage(tables.commands, tables.leases),
            past_chats=PastChatCommands(self.past_learning, self.chat_finder),
        )

    async def warm_up(self, request: Request) -> None:
        """Have ready what the first turn after a restart would wait for, the queue of nobody too.

        To read turns takes Python 15 ms before the first one.
        """
        await warm_up(request, self.indexes, self.tables.vectors)
        await self.tables.pending.waiting("", time.time())
