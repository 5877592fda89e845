"""An ordinary agent: it reads a task from stdin, asks a model with the OpenAI API and prints its answer."""

import json
import math
import re
import sys
from collections import Counter
from pathlib import Path

from openai import OpenAI

corpus = Path(__file__).parents[2] / "dataset" / "search_corpus" / "documents.jsonl"
documents = [json.loads(line) for line in corpus.read_text().splitlines()]


def words_of(text):
    return re.findall(r"[a-z0-9]+", text.lower())


index = [Counter(words_of(f"{one['title']} {one['title']} {one['text']}")) for one in documents]
mean = sum(map(Counter.total, index)) / len(index)
holders = Counter(word for words in index for word in words)


def score(query, words):
    total = 0
    for word in words_of(query):
        rare = math.log(1 + len(index) / (holders[word] + 0.5))
        total += rare * words[word] * 2.2 / (words[word] + 0.3 + 0.9 * words.total() / mean)
    return total


def search(query):
    ranked = sorted(((-score(query, words), place) for place, words in enumerate(index)))
    found = [documents[place] for worth, place in ranked[:2] if worth < 0]
    texts = [f"[{rank}] {one['title']}\n{one['text']}" for rank, one in enumerate(found, 1)]
    return "\n\n".join(texts) or "No results."


def lookup(title):
    named = (one["text"] for one in documents if one["title"].lower() == title.lower())
    return next(named, "No such document.")


def described(name, description, argument):
    parameters = {
        "type": "object",
        "properties": {argument: {"type": "string"}},
        "required": [argument],
    }
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


tools = [
    described("search", "Finds documents by words.", "query"),
    described("lookup", "The document with a title.", "title"),
]


def call(name, arguments):
    try:
        return {"search": search, "lookup": lookup}[name](**json.loads(arguments))
    except (KeyError, TypeError, ValueError) as problem:
        return f"Error: {problem}"


def answer(prompt):
    client = OpenAI()  # OPENAI_BASE_URL and OPENAI_API_KEY are set by the run
    messages = [{"role": "user", "content": prompt}]
    for _ in range(6):
        asked = client.chat.completions.create(model="gpt-5-mini", messages=messages, tools=tools)
        message = asked.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for one in message.tool_calls:
            result = call(one.function.name, one.function.arguments)
            messages.append({"role": "tool", "tool_call_id": one.id, "content": result})
    return ""


if __name__ == "__main__":
    print(answer(json.loads(sys.stdin.readline())["prompt"]))
