"""Small catalogues, wheels and sentences, made for the tests of this folder."""

import struct
import zipfile

WORDS = ["open", "close", "family", "tree", "the", "file", "person", "place", "note", "date", "name", "event", "list"]


def catalogue(messages, header="Content-Type: text/plain; charset=UTF-8\n", order="<"):
    """The bytes of a `.mo` file: {key: translation}, both as they stand in it."""
    entries = sorted((key.encode(), value.encode()) for key, value in {"": header, **messages}.items())
    start = 28 + 16 * len(entries)
    tables, texts = ([], []), b""
    for side in (0, 1):
        for entry in entries:
            tables[side].append((len(entry[side]), start + len(texts)))
            texts += entry[side] + b"\x00"
    numbers = [0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, 0]
    for table in tables:
        numbers += [number for pair in table for number in pair]
    return struct.pack(f"{order}{len(numbers)}I", *numbers) + texts


def wheel(path, members=None, name="gramps", version="6.0.8", tag="py3-none-any", requires_python=">=3.8"):
    """A wheel that pip accepts, with these members (name: bytes) besides its own."""
    info = f"{name}-{version}.dist-info"
    own = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        f"Requires-Python: {requires_python}\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{info}/RECORD": "",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in {**(members or {}), **own}.items():
            archive.writestr(member, content)
    return path


def gramps_wheel(path, catalogues):
    """A wheel with Gramps's layout: {locale: bytes of its catalogue}."""
    folder = "gramps-6.0.8.data/data/share/locale"
    return wheel(path, {f"{folder}/{locale}/LC_MESSAGES/gramps.mo": content for locale, content in catalogues.items()})


def sentences(count, draw, prefix=""):
    """Different sentences of four to nine words."""
    return [f"{prefix}{number} {' '.join(draw.choices(WORDS, k=draw.randint(4, 9)))}" for number in range(count)]
