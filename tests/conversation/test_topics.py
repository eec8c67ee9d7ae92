"""Topics of a chat."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adaptive.conversation.topics import MOST_MESSAGES, PAUSE_SECONDS, topics_of
from tests.conversation.history_world import START, said


def test_pause_closes() -> None:
    """Five hours of silence close a topic, a second less does not."""
    times = [START, START + PAUSE_SECONDS - 1, START + 2 * PAUSE_SECONDS - 1]
    found = topics_of([said(str(at), "x", said_at=at) for at in times], now=times[-1])
    assert [len(one.messages) for one in found] == [2, 1]
    assert [one.closed for one in found] == [True, False]
    assert found[0].id == str(START)


def test_silence_until_now_closes() -> None:
    """The last topic closes when nothing was said for five hours."""
    messages = [said("a", "x")]
    assert not topics_of(messages, START + PAUSE_SECONDS - 1)[0].closed
    assert topics_of(messages, START + PAUSE_SECONDS)[0].closed


def test_many_messages_close() -> None:
    """After 400 messages a new topic begins."""
    messages = [said(str(at), "x", said_at=START + at) for at in range(MOST_MESSAGES + 1)]
    found = topics_of(messages, START + MOST_MESSAGES)
    assert [len(one.messages) for one in found] == [MOST_MESSAGES, 1]
    assert topics_of(messages[:-1], START + MOST_MESSAGES)[0].closed
    assert topics_of([], START) == ()


@given(st.lists(st.integers(0, 10**7), max_size=60), st.integers(1, 20))
def test_each_message_in_one_topic(times: list[int], most: int) -> None:
    """Whatever the times, topics hold every message once, in order, and none is too large."""
    messages = [said(str(at), "x", said_at=time) for at, time in enumerate(times)]
    found = topics_of(messages, 0, most=most)
    assert [one for topic in found for one in topic.messages] == messages
    assert all(1 <= len(topic.messages) <= most for topic in found)
