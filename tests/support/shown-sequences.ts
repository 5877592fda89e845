import { drawnMasks, maskOf, type TranscriptRecord } from '#agent_rl/core/transcript.ts';
import type { LanguageModel } from '#model/text/language-model.ts';

/** Sequences as texts: «trained» tokens, ‹sampled› ones that an earlier sequence trains, and those that were only read. */
export function shownSequences(
  sequences: readonly TranscriptRecord[],
  { tokenizer }: LanguageModel,
): string[] {
  const masks = drawnMasks(sequences);
  return sequences.map((sequence, index) => {
    const sampled = maskOf(sequence, 'sampled');
    const kinds = sequence.tokens.map((_, at) =>
      masks[index]?.[at] === 1 ? 'trained' : sampled[at] === 1 ? 'known' : 'read',
    );
    let text = '';
    for (let start = 0; start < kinds.length;) {
      const kind = kinds[start]!;
      const next = kinds.findIndex((one, at) => at > start && one !== kind);
      const end = next === -1 ? kinds.length : next;
      const [open, close] = marks[kind];
      text += open + tokenizer.decode(sequence.tokens.slice(start, end)) + close;
      start = end;
    }
    return text;
  });
}

const marks = { trained: ['«', '»'], known: ['‹', '›'], read: ['', ''] } as const;
