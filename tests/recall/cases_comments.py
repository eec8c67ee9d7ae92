"""What is a remark on memory, and what only looks like one; one sentence of an answer each."""

from __future__ import annotations

REMARKS = """
I've updated my memory.
I’ve updated your memories!
I have updated my memory bank.
I'll remember that.
I'll remember that!
I will remember this for future conversations.
I'll definitely remember that for next time.
I'll make sure to remember your preferences.
I won't forget.
Got it, I have saved this to your memories.
Got it — I'll remember that.
Sure, I've added that to my memory.
Okay, noted, I'll keep that in mind.
Thanks, Ada, I'll remember that.
Thank you for letting me know, I'll remember that going forward.
I'll remember that, Ada!
🧠 I've added 1 memory
🧠 I've added 1 memory, updated 2 memories, and deleted 1 memory.
*🧠 I've updated 2 memories*
✅ Memory saved
📝 Memory updated successfully.
(Memory updated)
**(Memory updated.)**
[Memory updated]
_Memory saved._
Updated your memories.
Saved to memory.
Added 2 new memories.
I've made a note of that.
I'll make a mental note of that.
I've noted that down for future reference.
I've committed that to memory.
I'll save that to memory.
Your preferences have been saved to memory.
That has been added to your memories.
Your memory has been updated.
Memory has been updated.
I've noted that and will remember it for future conversations.
Das merke ich mir.
Alles klar, ich merke mir das für die Zukunft!
Ich werde mir das merken.
Das werde ich mir merken.
Ich habe mir das gemerkt.
Verstanden, das habe ich mir notiert.
Ich habe das in meinem Gedächtnis gespeichert.
Ich habe meine Erinnerungen aktualisiert.
Erinnerung gespeichert.
🧠 Ich habe 1 Erinnerung hinzugefügt.
Ich werde das nicht vergessen.
Je m'en souviendrai.
D'accord, je m’en souviendrai pour la prochaine fois !
J'ai mis à jour ma mémoire.
J'ai enregistré cette information dans ma mémoire.
Je l'ai enregistré dans ta mémoire.
Mémoire mise à jour.
(Souvenir enregistré)
J'en prends note.
J'ai ajouté 1 souvenir.
Je retiens cela.
Lo recordaré.
¡Lo recordaré para la próxima vez!
Entendido, lo tendré en cuenta.
He actualizado mi memoria.
He guardado esta información en mi memoria.
Lo he guardado en tu memoria.
Memoria actualizada.
He añadido 1 recuerdo.
No lo olvidaré.
Vou me lembrar disso.
Certo, vou lembrar disso no futuro.
Atualizei minha memória.
Salvei isso na minha memória.
Memória atualizada.
Adicionei 2 novas memórias.
Não vou esquecer disso.
Me lo ricorderò.
Perfetto, me ne ricorderò per la prossima volta.
Ho aggiornato la mia memoria.
Ho salvato questa informazione nella mia memoria.
Memoria aggiornata.
Ho aggiunto 1 ricordo.
Lo terrò a mente.
Я запомню это.
Хорошо, я это запомню!
Запомнил.
Я обновил свою память.
Я сохранила это в памяти.
Память обновлена.
Я не забуду об этом.
Спасибо за информацию, буду иметь это в виду.
我会记住的。
好的，我会记住这一点！
我已经记住了。
我已将这些信息保存到我的记忆中。
我已更新记忆。
记忆已更新。
已添加1条记忆。
我會記住這一點。
不会忘记的。
覚えておきます。
わかりました、覚えておきますね。
その情報を記憶に保存しました。
メモリを更新しました。
1件の記憶を追加しました。
忘れません。
""".strip().splitlines()

NEAR_MISSES = """
I remember when you told me about Lisbon.
Remember that Python counts from zero.
Remember to save your work.
Do you remember that?
Shall I remember that?
Should I save this to your memories?
I'll remember that?
I'll remember that you asked for short answers.
I'll remember to add tests.
I'll remember this when we get to chapter two.
I don't remember that.
I can't remember that.
You will remember that.
She said that she will remember that.
I'll keep that in mind while I write the next chapter.
Keep that in mind.
Keep this in memory for speed.
It is stored in memory.
Stored in memory.
I've stored it in memory.
The value has been stored in memory.
Memory usage of the process is 2 GB.
Memory is cheap.
Memory updated at 10:00 with 3 pages.
Memory saved: 20 %.
The memory has been freed.
The memory was updated by another thread.
I've updated the memory allocation in the code above.
I've added a memory card slot to the list.
I've added 1 memory stick to the order.
I've updated my answer.
I've updated your file.
I've saved this to notes.txt.
I've saved that for you.
I've added that to the list.
I've noted that the function returns None.
I've noted the bug in line 3.
I've made a note of that in the ticket.
I've updated my memory to reflect that you live in Lisbon.
I've updated my memory; the plan for Monday is below.
I've saved to your memories that you prefer tea.
Got it!
Noted.
Sure, here is the code.
Got it, I'll remember that you like tea, so here are three teas.
Your memory is impressive.
Human memory is reconstructive.
My memory of the text is: it begins with rain.
I have no memory of earlier chats.
"I'll remember that."
“I'll remember that.”
'I'll remember that.'
`I'll remember that.`
In English: I'll remember that.
> I've updated my memory.
- I'll remember that.
1. Memory updated.
# Memory updated
| Memory updated |
    I've updated my memory.
Forget that.
I will never forget that summer in Lisbon.
Erinnerung: Termin um neun Uhr.
Merke dir das.
Ich merke mir das Passwort nicht.
Ich erinnere mich an den Film.
Der Speicher ist aktualisiert.
Ich habe das in der Datei gespeichert.
Ich habe die Datei gespeichert.
Wirst du dir das merken?
Souviens-toi de cela.
Je me souviens de ce film.
La mémoire vive est pleine.
J'ai enregistré le fichier dans le dossier.
J'ai mis à jour le code.
Recuerda que Python es sensible a mayúsculas.
Recuerdo ese libro.
La memoria del proceso es de 2 GB.
He guardado el archivo.
¿Lo recordarás?
Lembre-se disso.
Eu me lembro desse filme.
A memória do processo está cheia.
Salvei o arquivo na pasta.
Ricordati di questo.
Mi ricordo quel film.
La memoria del processo è piena.
Ho salvato il file nella cartella.
Запомни это.
Помню этот фильм.
Память процесса составляет 2 ГБ.
Я сохранил файл в папке.
请记住这一点。
你会记住的。
记忆是大脑的功能。
我已更新代码。
我已将文件保存到文件夹中。
内存已更新。
覚えておいてください。
私は子供の頃を覚えています。
メモリの使用量は2GBです。
データをファイルに保存しました。
""".strip("\n").splitlines()
