"""Writes the ids that Python's tokenizers give texts: rust_ids.py TOKENIZER_JSON TEXTS_JSON OUTPUT"""

import json
import sys

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
with open(sys.argv[2], encoding="utf-8") as file:
    texts = json.load(file)
encodings = tokenizer.encode_batch(texts, add_special_tokens=False)
with open(sys.argv[3], "w", encoding="utf-8") as file:
    json.dump([encoding.ids for encoding in encodings], file)
