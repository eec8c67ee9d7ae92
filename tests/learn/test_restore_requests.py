"""Which messages ask to bring archived memories back, and the many that only look like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.restore_requests import asks_to_restore
from tests.rates import over

ASKING = (
    # English
    "Restore my archived memories",
    "restore my archived memories.",
    "Bring back my archived memories",
    "Bring my archived memories back!",
    "Restore the memories you archived",
    "Please restore the memories that you have archived.",
    "Restore all my archived memories, please",
    "Restore all of my archived memories",
    "Restore archived memories",
    "Can you restore my archived memories?",
    "Could you please bring back the memories that were archived?",
    "I want my archived memories back",
    "I'd like to restore my archived memories.",
    "I\u2019d like you to restore my archived memories",
    "Get my archived memories back",
    "Give me back my archived memories",
    "Recover the archived memories",
    "Restore my memories from the archive",
    "Bring my memories back from the archive, thanks",
    "Unarchive my memories",
    "Hey, restore the memories you've archived now",
    "Put my archived memories back",
    # German
    "Stelle meine archivierten Erinnerungen wieder her",
    "Stell bitte meine archivierten Erinnerungen wieder her.",
    "Bitte stelle alle archivierten Erinnerungen wieder her!",
    "Hol meine archivierten Erinnerungen zurück",
    "Bring meine archivierten Erinnerungen zurück",
    "Stelle die Erinnerungen wieder her, die du archiviert hast",
    "Stelle die Erinnerungen, die du archiviert hast, wieder her.",
    "Meine archivierten Erinnerungen wiederherstellen",
    "Kannst du meine archivierten Erinnerungen wiederherstellen?",
    "Könnten Sie bitte die archivierten Erinnerungen wiederherstellen?",
    "Ich möchte meine archivierten Erinnerungen zurück",
    "Gib mir meine archivierten Erinnerungen zurück",
    "Hole meine Erinnerungen aus dem Archiv zurück",
    # French
    "Restaure mes souvenirs archivés",
    "Restaure tous mes souvenirs archivés, s'il te plaît",
    "Rétablis les souvenirs que tu as archivés.",
    "Récupère mes mémoires archivées",
    "Peux-tu restaurer mes souvenirs archivés ?",
    "Pourriez-vous restaurer les souvenirs que vous avez archivés ?",
    "Je voudrais récupérer mes souvenirs archivés",
    "Rends-moi mes souvenirs archivés",
    "Fais revenir mes souvenirs archivés",
    # Spanish
    "Restaura mis recuerdos archivados",
    "Recupera los recuerdos que archivaste",
    "Por favor, restaura todos mis recuerdos archivados.",
    "¿Puedes restaurar mis recuerdos archivados?",
    "Devuélveme mis memorias archivadas",
    "Quiero recuperar mis recuerdos archivados",
    "Trae de vuelta mis recuerdos archivados",
    "Restaura las memorias que has archivado",
    # Portuguese
    "Restaure as minhas memórias arquivadas",
    "Restaura minhas memórias arquivadas, por favor",
    "Recupere as memórias que você arquivou.",
    "Traga de volta minhas memórias arquivadas",
    "Você pode restaurar as minhas memórias arquivadas?",
    "Quero recuperar minhas lembranças arquivadas",
    "Devolva-me as memórias arquivadas",
    # Italian
    "Ripristina i miei ricordi archiviati",
    "Ripristina tutti i ricordi archiviati, per favore",
    "Recupera i ricordi che hai archiviato.",
    "Riporta indietro i miei ricordi archiviati",
    "Puoi ripristinare i miei ricordi archiviati?",
    "Vorrei ripristinare le mie memorie archiviate",
    "Ridammi i miei ricordi archiviati",
    # other ways to say it
    "restore archived memories please",
    "pls restore my archived memories",
    "Hi, could you restore all archived memories for me please?",
    "I want to bring back my archived memories",
    "Would you please bring my archived memories back?",
    "I want my archived memories restored",
    "Bring back all the memories that you've archived",
    "Please un-archive all my memories",
    "Return my archived memories",
    "Retrieve my archived memories",
    "restore the archived memories now!",
    "Restore my archived memories. Thank you!",
    "Stelle bitte die archivierten Erinnerungen wieder her",
    "Kannst du bitte alle meine archivierten Erinnerungen zurückholen?",
    "Bringe die archivierten Erinnerungen wieder zurück",
    "Ich hätte gerne meine archivierten Erinnerungen zurück",
    "Archivierte Erinnerungen wiederherstellen",
    "Bitte alle archivierten Erinnerungen wiederherstellen",
    "Stell alle Erinnerungen wieder her, die archiviert wurden",
    "Restaurez mes souvenirs archivés",
    "Restaurer mes souvenirs archivés",
    "Ramène mes souvenirs archivés",
    "Est-ce que tu peux restaurer mes souvenirs archivés ?",
    "Récupère tous les souvenirs que tu as archivés, merci",
    "Restaura todos los recuerdos archivados",
    "Restaurar mis recuerdos archivados",
    "Me puedes devolver mis recuerdos archivados?",
    "Recupera mis recuerdos del archivo",
    "Restaurar memórias arquivadas",
    "Pode trazer de volta as minhas memórias arquivadas?",
    "Restaura todas as memórias arquivadas",
    "Recupera i miei ricordi archiviati, grazie",
    "Ripristina le memorie archiviate",
    "Riporta i miei ricordi archiviati",
    "Potresti ripristinare i ricordi che hai archiviato?",
    "Restore my memory archive",
)
ASKING_NOTHING = (
    # questions
    "How do I restore archived files?",
    "How do I restore my archived memories?",
    "How can I bring back my archived memories",
    "Can archived memories be restored?",
    "What happens if I restore my archived memories?",
    "Restore my archived memories?",
    "Why would anyone restore archived memories?",
    "Did you restore my archived memories?",
    "Should I restore my archived memories?",
    "Do you have archived memories?",
    "Can you explain how to restore my archived memories?",
    "Wie stelle ich meine archivierten Erinnerungen wieder her?",
    "Wie kann ich archivierte Erinnerungen wiederherstellen?",
    "Comment restaurer mes souvenirs archivés ?",
    "¿Cómo restauro mis recuerdos archivados?",
    "Como restaurar minhas memórias arquivadas?",
    "Come ripristino i miei ricordi archiviati?",
    # a word of the three is missing
    "Restore my memories of Paris",
    "Restore my memories",
    "Restore my memory",
    "Bring back memories",
    "That song brings back memories",
    "archived memories are great",
    "My archived memories",
    "Archive my memories",
    "Restore my archived files",
    "Restore the archived chats",
    "Bring back my archived chats",
    "Restore archived emails",
    "Bring back the old days",
    "Show my archived memories",
    "List the memories you archived",
    "Delete my archived memories",
    "Forget my archived memories",
    "Stelle meine Erinnerungen wieder her",
    "Zeig mir meine archivierten Erinnerungen",
    "Restaure mes fichiers archivés",
    "Restaura mis archivos",
    "Recupera mis fotos archivadas",
    "Restaure os meus arquivos",
    "Ripristina i miei file archiviati",
    # about something else, or going on to it
    "Restore my archived memories of Paris",
    "Restore my archived memories and tell me a joke",
    "Restore my archived memories in the database with this script",
    "Restore the memories you archived about my cat",
    "Write a function that restores archived memories",
    "Translate: restore my archived memories",
    "Translate to German: restore my archived memories",
    "I restored my archived memories yesterday",
    "I want to restore archived memories in my novel",
    "She wants to bring back her archived memories",
    "He said restore my archived memories",
    "Restore her archived memories",
    "The archivist restores archived memories of the town",
    "Stelle meine archivierten Erinnerungen an Paris wieder her",
    "Restaure mes souvenirs archivés de vacances",
    "Escribe un poema: restaura mis recuerdos archivados",
    # negated
    "Don't restore my archived memories",
    "Do not bring back my archived memories",
    "Never restore my archived memories",
    "Please don't restore the memories you archived",
    "Stelle meine archivierten Erinnerungen nicht wieder her",
    "Ne restaure pas mes souvenirs archivés",
    "No restaures mis recuerdos archivados",
    "Não restaure as minhas memórias arquivadas",
    "Non ripristinare i miei ricordi archiviati",
    # quoted, pasted
    '"Restore my archived memories"',
    "“Restore my archived memories”",
    "„Stelle meine archivierten Erinnerungen wieder her“",
    "«Restaure mes souvenirs archivés»",
    "'Restore my archived memories'",
    "> Restore my archived memories",
    "`Restore my archived memories`",
    "```\nrestore my archived memories\n```",
    "- Restore my archived memories\n- Buy milk",
    "1. Restore my archived memories",
    "user: Restore my archived memories",
    "Subject: Restore my archived memories\nHello, how are you?",
    "",
    "?",
    "restore",
    "archived memories",
    # what says too little, or something near
    "Is it possible to restore archived memories?",
    "What are archived memories?",
    "Where are my archived memories?",
    "Can you restore archived memories?",
    "Could you restore my archived photos?",
    "Please restore my archived memories of grandma",
    "If I ask you to restore my archived memories, what do you do?",
    "Restore my archived memories tomorrow",
    "My therapist says to bring back archived memories",
    "Bring back my childhood memories",
    "Do you restore the memories you archived?",
    "Have you restored my archived memories?",
    "Kann man archivierte Erinnerungen wiederherstellen?",
    "Hast du meine archivierten Erinnerungen wiederhergestellt?",
    "Was sind archivierte Erinnerungen?",
    "Peut-on restaurer des souvenirs archivés ?",
    "¿Se pueden restaurar los recuerdos archivados?",
    "Dá para restaurar memórias arquivadas?",
    "Si possono ripristinare i ricordi archiviati?",
    "Restore my archived memories, then delete them",
    'Restore my archived memories: ["a", "b"]',
    "Remember that I restore archived memories",
    "The memories you archived were wrong",
    "Keep my memories archived",
    "Please restore everything from my memory archive",
    "Restore everything you archived about me",
    "Undo the archiving of my memories",
)


@over("words", ASKING, at_least=0.95)
def test_asking(words: str) -> None:
    """A whole short message that asks to bring archived memories back is such a request."""
    assert asks_to_restore(words)


@over("words", ASKING_NOTHING, at_least=0.97)
def test_asking_nothing(words: str) -> None:
    """Asked about, negated, quoted, of something else or going on to it, it is no request."""
    assert not asks_to_restore(words)


@pytest.mark.parametrize(
    "words",
    [
        "STELLE MEINE ARCHIVIERTEN ERINNERUNGEN WIEDER HER",
        "Recupere as memorias que voce arquivou",
        "Hol meine archivierten Erinnerungen zurueck",
        "ｒｅｓｔｏｒｅ my archived memories",
        "Restore\nmy archived   memories …",
    ],
)
def test_ways_of_writing(words: str) -> None:
    """Capitals, accents, wide letters and spaces do not count."""
    assert asks_to_restore(words)


def test_long_message_is_none() -> None:
    """A request is short: nothing is looked for in a long text."""
    assert not asks_to_restore("please " * 40 + "restore my archived memories")
    assert not asks_to_restore("restore my archived memories\n" * 10_000)


@given(st.sampled_from(ASKING), st.text(min_size=1, max_size=30))
def test_request_with_other_words_is_none(request: str, more: str) -> None:
    """Quoted, or with something else behind it, no request is one."""
    assert not asks_to_restore(f"«{request}»")
    assert not asks_to_restore(f'He wrote "{request}" {more}')
    assert not asks_to_restore(f"{request} xq{more}")


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    """No text raises."""
    asks_to_restore(text)


@over("repeated", ["please ", "restore ", "all ", "my archived ", "bitte, ", "ok, ", "per favore "])
def test_repeats(repeated: str) -> None:
    """Repeated words, as long as a request may be, are read and are none."""
    assert not asks_to_restore((repeated * 200)[:200])
