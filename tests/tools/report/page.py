# SPDX-License-Identifier: MIT
# The page of `kiln report --html` as a browser's parser takes it: page.py FILE [TEXT...].  Elements are closed, nothing is
# loaded from elsewhere, the data is one script element's JSON and has each TEXT in it.  Prints the data's counts.
import html.parser
import json
import re
import sys

VOID = {"meta", "input", "col", "br", "img", "link"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.data, self.scripts, self.ids = [], [], 0, []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert tag not in ("img", "link", "iframe", "object", "embed"), tag
        for key in ("src", "href", "action", "background", "srcset"):
            assert key not in attrs, (tag, attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.scripts += tag == "script"
        if tag not in VOID:
            self.open.append((tag, attrs.get("id")))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, (tag, self.open, self.getpos())
        self.open.pop()

    def handle_data(self, text):
        if self.open and self.open[-1] == ("script", "data"):
            self.data.append(text)
        elif self.open and self.open[-1][0] in ("style", "script"):
            assert "url(" not in text and "@import" not in text and "http://" not in text and "https://" not in text


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for v in value.values() if isinstance(value, dict) else value:
            yield from texts(v)


page = Page()
text = open(sys.argv[1], encoding="utf-8").read()
page.feed(text)
page.close()
assert not page.open, page.open
assert page.scripts == 2 and len(set(page.ids)) == len(page.ids), (page.scripts, page.ids)
assert text.startswith("<!doctype html>\n") and not re.search("^@.*@$", text, re.M)
raw = "".join(page.data)
assert "<" not in raw and raw.isascii()
data = json.loads(raw)
for wanted in sys.argv[2:]:
    assert any(wanted in text for text in texts(data)), wanted
print(len(data["instances"]), len(data["ops"]), len(data["problems"]), len(data["measured"]), len(data["simulated"]))
