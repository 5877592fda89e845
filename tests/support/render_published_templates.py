"""
Renders published chat templates with transformers, on 2024-07-26:

    python render_published_templates.py RENDERINGS.json CONVERSATIONS.jsonl ARCHIVE…

The templates are all files NAME.jinja of wheels and source packages. Writes [{name, source, renderings}], one of each source.
"""

import datetime
import json
import pathlib
import sys
import tarfile
import zipfile

from transformers.utils import chat_template_utils


class Day(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2024, 7, 26)


chat_template_utils.datetime = Day


def files(archive):
    if archive.endswith(".whl"):
        with zipfile.ZipFile(archive) as opened:
            for name in opened.namelist():
                if name.endswith(".jinja"):
                    yield name, opened.read(name)
    else:
        with tarfile.open(archive) as opened:
            for member in opened:
                if member.isfile() and member.name.endswith(".jinja"):
                    yield member.name, opened.extractfile(member).read()


def rendering(source, values):
    try:
        return {"text": chat_template_utils._compile_jinja_template(source).render(**values)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


output, conversations, *archives = sys.argv[1:]
lines = pathlib.Path(conversations).read_text("utf8").splitlines()
templates = {}
for archive in archives:
    for name, content in files(archive):
        templates.setdefault(content.decode("utf8"), name)
rows = [
    {
        "name": name,
        "source": source,
        "renderings": [rendering(source, json.loads(line)) for line in lines],
    }
    for source, name in templates.items()
]
pathlib.Path(output).write_text(json.dumps(rows))
