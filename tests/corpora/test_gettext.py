import gettext
import io
import random

import pytest

from optok.corpora.catalogue import find_archive
from optok.corpora.gettext import (
    Message,
    on_one_line,
    placeholders,
    read_catalogue,
    read_messages,
    same_placeholders,
    translated,
    without_access_keys,
)
from optok.errors import UserError
from tests.corpora.making import catalogue, gramps_wheel, sentences

GERMAN = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n != 1;\n"
POLISH = (
    "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && "
    "(n%100<10 || n%100>=20) ? 1 : 2);\n"
)
JAPANESE = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=0;\n"


def pairs(content):
    return [(message.source, message.target) for message in read_messages(content, "test.mo")]


@pytest.mark.parametrize("order", ["<", ">"])
def test_messages_are_those_that_the_standard_library_translates(order):
    draw = random.Random(1)
    messages = dict(zip(sentences(200, draw, "en "), sentences(200, draw, "Ü "), strict=True))
    content = catalogue(messages, order=order)
    library = gettext.GNUTranslations(io.BytesIO(content))
    read = pairs(content)
    assert len(read) == 200
    assert dict(read) == {message: library.gettext(message) for message in messages}


@pytest.mark.parametrize(
    ("header", "key", "value", "expected"),
    [
        (GERMAN, "verb: look\x04See it", "Ansehen", [("See it", "Ansehen")]),
        (GERMAN, "%d day\x00%d days", "%d Tag\x00%d Tage", [("%d day", "%d Tag"), ("%d days", "%d Tage")]),
        (GERMAN, "age\x04%d day\x00%d days", "%d Tag\x00%d Tage", [("%d day", "%d Tag"), ("%d days", "%d Tage")]),
        (POLISH, "%d file\x00%d files", "plik\x00pliki\x00plików", [("%d file", "plik"), ("%d files", "plików")]),
        (JAPANESE, "%d file\x00%d files", "一\x00二", [("%d files", "一")]),
        (GERMAN, "a|b", "c|d", [("a|b", "c|d")]),
    ],
)
def test_contexts_are_not_text_and_plurals_give_one_pair_a_form(header, key, value, expected):
    assert pairs(catalogue({key: value}, header)) == expected


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no catalogue at all",
        catalogue({"a": "b"})[:40],
        catalogue({"a": "b"}, "Content-Type: text/plain; charset=nonsense\n"),
    ],
)
def test_a_broken_catalogue_is_named(content):
    with pytest.raises(UserError, match=r"test\.mo is no valid message catalogue"):
        pairs(content)


def test_a_language_reads_its_locale_and_a_missing_one_is_told_which_there_are(tmp_path):
    archive = gramps_wheel(
        tmp_path / "gramps.whl",
        {locale: catalogue({"Open the file": f"in {locale}"}) for locale in ("zh_CN", "pt_BR", "pt_PT", "de")},
    )
    entry = find_archive("gramps")
    for language, locale in [("zh", "zh_CN"), ("zh-CN", "zh_CN"), ("pt-BR", "pt_BR"), ("pt", "pt_PT"), ("de", "de")]:
        assert [message.target for message in read_catalogue(archive, entry, language)] == [f"in {locale}"]
    with pytest.raises(UserError, match=r"no messages in 'sr-Latn': it has de, pt-BR, pt-PT, zh-CN$"):
        read_catalogue(archive, entry, "sr-Latn")


@pytest.mark.parametrize(
    ("content", "fault"), [(None, "does not exist: fetch it"), (b"<html>", "cannot be read as a wheel")]
)
def test_a_missing_or_broken_wheel_is_an_error(tmp_path, content, fault):
    path = tmp_path / "gramps.whl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=fault):
        read_catalogue(path, find_archive("gramps"), "de")


def test_missing_and_equal_translations_are_untranslated():
    messages = [Message(1, "Name", "Name"), Message(2, "Name ", "Name"), Message(3, "Place", " "), Message(4, "a", "b")]
    assert [message.number for message in translated(messages)] == [4]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("one\ntwo", "one two"),
        ("one \r\n\n  two\n", "one two"),
        ("\tone\ttwo", "one two"),
        ("one\u2028two\x85three", "one two three"),
        ("one  two\u00a0three", "one  two\u00a0three"),
    ],
)
def test_breaks_become_one_space(text, line):
    assert on_one_line(text) == line


@pytest.mark.parametrize(
    ("source", "target", "plain_source", "plain_target"),
    [
        ("_Save it now", "Jetzt _speichern", "Save it now", "Jetzt speichern"),
        ("Copy _Link", "拷贝链接(_L)", "Copy Link", "拷贝链接"),
        ("In_vert the marks", "選択を反転 (_V)...", "Invert the marks", "選択を反転..."),
        ("Bo_oks", "Bü_cher", "Bo_oks", "Bü_cher"),
        ("Edit the gramps_id or family_id", "x_y bearbeiten", "Edit the gramps_id or family_id", "x_y bearbeiten"),
        ("%(male_name)s _died", "%(male_name)s _starb", "%(male_name)s died", "%(male_name)s starb"),
        ("Match the <regex_name>", "Das <regex_Name>", "Match the <regex_name>", "Das <regex_Name>"),
        ("Fill in ______", "______ füllen", "Fill in ______", "______ füllen"),
        ("word " * 20 + "lds_ord", "x_y", "word " * 20 + "lds_ord", "x_y"),
    ],
)
def test_access_keys_go_and_other_underscores_stay(source, target, plain_source, plain_target):
    assert without_access_keys(Message(7, source, target)) == Message(7, plain_source, plain_target)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("%s of %d, %.2f%%", {"%": 3, "%%": 1}),
        ("%(name)s and %(name)s", {"%(name)": 2}),
        ("%2$s before %1$s", {"%": 2}),
        ("{} {name} {day:d} {month.f[GEN]}", {"{": 1, "{name": 1, "{day": 1, "{month": 1}),
        ("$T ${name} for $5", {"$T": 1, "$name": 1}),
        ("<b>Note</b><br/> the <filter>", {"<b": 1, "</b": 1, "<br": 1}),
        ("100% of them, 3 < 4 > 2, { a b }", {}),
    ],
)
def test_placeholders_are_counted_by_name(text, found):
    assert placeholders(text) == found


@pytest.mark.parametrize(
    ("source", "target", "same"),
    [
        ("Hello %s", "Hallo %s", True),
        ("%s by %d", "%2$d von %1$s", True),
        ("Hello %(name)s", "Hallo %(nom)s", False),
        ("Hello {name}", "Hallo", False),
        ("<b>Hello</b>", "<b>Hallo</ b>", False),
        ("Match the <filter>", "Zum <Filter> passend", True),
        ("{day:d} {month}", "{day}. {month.f[GEN]}", True),
    ],
)
def test_a_pair_needs_the_same_placeholders_on_both_sides(source, target, same):
    assert same_placeholders(Message(1, source, target)) is same
