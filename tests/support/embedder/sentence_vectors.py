"""Vectors of texts by Sentence Transformers, as JSON: python sentence_vectors.py FOLDER TEXTS."""

import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from sentence_transformers import SentenceTransformer

torch.set_num_threads(1)
model = SentenceTransformer(sys.argv[1], device="cpu")
# One at a time: without padding.
texts = json.loads(sys.argv[2])
vectors = [model.encode(text, normalize_embeddings=True).tolist() for text in texts]
print(json.dumps(vectors))
