"""Parallel sentences out of a program's message catalogues (GNU gettext's `.mo`), read inside a wheel.

Reading steps, counted in the report:

- *untranslated*: a message whose translation is missing or equal to it is dropped;
- *context*: the `msgctxt` of a message ("verb: look at this") is no text and is not read;
- *plural*: a message with plural forms gives two pairs, its singular with the form for one thing and its
  plural with the form for five (past the duals and the "few" of Slavic and Semitic languages); one pair,
  the plural's, where both forms are the same text, as in Vietnamese, Chinese or Japanese;
- *blanks*: a line break or tab inside a message, with the blanks around it, becomes one space; blanks at
  its ends go;
- *access keys*: the `_` before the letter that is a menu entry's key goes, with the `(_K)` that
  Chinese and Japanese put in its place;
- *placeholders*: a pair whose sides do not hold the same placeholders and markup is dropped.
"""

from __future__ import annotations

import gettext
import io
import re
import struct
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from optok.config import language_code
from optok.corpora.catalogue import Archive
from optok.errors import UserError

MANY = 5

PLACEHOLDER = re.compile(
    r"%(?:\d+\$)?(?P<name>\(\w+\))?[-#0+]*\d*(?:\.\d+)?[diouxXeEfFgGcrsa]"  # %s, %2$s, %.1f, %(name)s
    r"|%%"
    r"|\{(?P<field>\w*)[^{}\s]*\}"  # {}, {name}, {day:d}, {month.f[GEN]}
    r"|\$(?P<variable>[A-Za-z_]\w*|\{\w+\})"  # $name, ${name}
    r"|<(?P<tag>/?(?:a|b|big|br|em|i|li|p|s|small|span|strong|sub|sup|tt|u|ul))\b[^<>]*>",  # HTML and Pango
)
_BREAK = re.compile(r"\s*[\n\r\t\v\f\x85\u2028\u2029]\s*")
_SLOT = re.compile(r"<[^<>]*>")
_KEY_BEHIND = re.compile(r"\s?[(（]_\w[)）]")
_LABEL = 80
"""Characters: only messages up to this are labels that can hold an access key inside a word."""


@dataclass(frozen=True)
class Message:
    """A message and its translation; `number` is its place in the catalogue, from 1."""

    number: int
    source: str
    target: str


def read_catalogue(archive: Path, entry: Archive, language: str) -> list[Message]:
    """The messages of one language in a wheel; raises `UserError` where the wheel does not have it."""
    locale = entry.locales.get(language, language_code(language))
    before, after = entry.member.split("{locale}")
    try:
        with zipfile.ZipFile(archive) as wheel:
            names = wheel.namelist()
            member = f"{before}{locale}{after}"
            if member not in names:
                there = [name for name in names if name.startswith(before) and name.endswith(after)]
                locales = sorted(name[len(before) : len(name) - len(after)] for name in there)
                languages = ", ".join(name.replace("_", "-") for name in locales) or "none"
                raise UserError(f"{archive} has no messages in {language!r}: it has {languages}")
            return list(read_messages(wheel.read(member), f"{archive}: {member}"))
    except FileNotFoundError:
        raise UserError(f"{archive} does not exist: fetch it first") from None
    except (zipfile.BadZipFile, OSError) as error:
        raise UserError(f"{archive} cannot be read as a wheel ({error}): fetch it again") from None


def read_messages(content: bytes, name: str) -> Iterator[Message]:
    """The messages of a `.mo` file, without its header; plural forms as this module's text says."""
    try:
        translations = gettext.GNUTranslations(io.BytesIO(content))
        keys = _original_strings(content, translations.charset() or "utf-8")
    except (OSError, ValueError, LookupError, struct.error) as error:
        raise UserError(f"{name} is no valid message catalogue: {error}") from None
    for number, key in enumerate(keys, start=1):
        context, separator, message = key.rpartition("\x04")
        singular, _, plural = message.partition("\x00")
        if not message:
            continue  # the header
        if not plural:
            target = translations.pgettext(context, singular) if separator else translations.gettext(singular)
            yield Message(number, singular, target)
            continue
        one, many = (
            translations.npgettext(context, singular, plural, count)
            if separator
            else translations.ngettext(singular, plural, count)
            for count in (1, MANY)
        )
        if one != many:
            yield Message(number, singular, one)
        yield Message(number, plural, many)


def _original_strings(content: bytes, charset: str) -> list[str]:
    """The keys of a `.mo` file: "The Format of GNU MO Files" in GNU gettext's manual.

    The standard library reads the translations, but has no public way to list what is translated.
    """
    order = "<" if content[:4] == b"\xde\x12\x04\x95" else ">"
    count, table = struct.unpack_from(f"{order}2I", content, 8)
    places = (struct.unpack_from(f"{order}2I", content, table + 8 * row) for row in range(count))
    return [content[start : start + length].decode(charset) for length, start in places]


def translated(messages: Iterable[Message]) -> list[Message]:
    """Those whose translation is there and another text."""
    return [
        message for message in messages if message.target.strip() and message.source.strip() != message.target.strip()
    ]


def on_one_line(text: str) -> str:
    """Line breaks and tabs, with the blanks around them, as one space."""
    return _BREAK.sub(" ", text).strip()


def without_access_keys(message: Message) -> Message:
    """A message without the `_` that marks a key, where the source has exactly one: `_Save it`, `In_vert marks`.

    Not taken for one: a `_` in a placeholder, a `<slot_name>`, or a word in running text or on its own.
    """
    source, target = message.source, message.target
    marks = _underscores(source)
    if len(marks) != 1 or not source[marks[0] + 1 : marks[0] + 2].isalpha():
        return message
    starts_word = marks[0] == 0 or source[marks[0] - 1] in " ("
    if not starts_word and (" " not in source or len(source) > _LABEL):
        return message
    target = _KEY_BEHIND.sub("", target)
    there = _underscores(target)
    if len(there) == 1 and target[there[0] + 1 : there[0] + 2].isalpha():
        target = target[: there[0]] + target[there[0] + 1 :]
    return Message(message.number, source[: marks[0]] + source[marks[0] + 1 :], target)


def _underscores(text: str) -> list[int]:
    """Where a `_` stands outside placeholders and slots."""
    taken = [match.span() for pattern in (PLACEHOLDER, _SLOT) for match in pattern.finditer(text)]
    places = [match.start() for match in re.finditer("_", text)]
    return [place for place in places if not any(start <= place < end for start, end in taken)]


def placeholders(text: str) -> Counter[str]:
    """What a program or a renderer will replace in a text, and how often.

    Formats and positions may differ between the sides (`%d` and `%s`, `{day:d}` and `{day}`): they count as
    their name, or as `%` and `{}` where they have none.
    """
    found: Counter[str] = Counter()
    for match in PLACEHOLDER.finditer(text):
        parts = match.groupdict()
        whole = match.group(0)
        kind = "<" if parts["tag"] else whole if whole == "%%" else whole[0]
        name = parts["name"] or parts["field"] or parts["variable"] or parts["tag"] or ""
        found[kind + name.strip("{}")] += 1
    return found


def same_placeholders(message: Message) -> bool:
    return placeholders(message.source) == placeholders(message.target)
