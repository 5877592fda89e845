// The search behind the server: BM25 over a file of documents. Nothing here knows of training.
import { readFileSync } from 'node:fs';

const file = new URL('../../dataset/search_corpus/documents.jsonl', import.meta.url);
const documents = readFileSync(file, 'utf8').trim().split('\n').map(JSON.parse);
const wordsOf = (text) => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
const index = documents.map(({ title, text }) => wordsOf(`${title} ${title} ${text}`));
const mean = index.reduce((sum, words) => sum + words.length, 0) / index.length;
const holders = new Map();
for (const words of index)
  for (const word of new Set(words)) holders.set(word, (holders.get(word) ?? 0) + 1);

function score(query, words) {
  return wordsOf(query).reduce((sum, word) => {
    const often = words.filter((one) => one === word).length;
    const rare = Math.log(1 + index.length / ((holders.get(word) ?? 0) + 0.5));
    return sum + (rare * often * 2.2) / (often + 0.3 + (0.9 * words.length) / mean);
  }, 0);
}

export function search(query) {
  const found = index
    .map((words, place) => ({ place, score: score(query, words) }))
    .filter((one) => one.score > 0)
    .toSorted((a, b) => b.score - a.score || a.place - b.place)
    .slice(0, 2)
    .map(({ place }, rank) => `[${rank + 1}] ${documents[place].title}\n${documents[place].text}`);
  return found.join('\n\n') || 'No results.';
}
