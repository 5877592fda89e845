import { windowTokens } from '../../../model/decoder/windows.ts';
import { KvCache } from '../cache/kv-cache.ts';
import type { KvPrefix, KvShape } from '../cache/kv-rows.ts';

type Shape = Omit<KvShape, 'capacity'>;

/** Computes keys and values of tokens that follow the tokens of a row. */
interface Chunks {
  kvShape: Shape;
  chunk: (
    tokens: readonly number[],
    at: { cache: KvCache; row: number; length: number },
  ) => Promise<KvPrefix>;
}

/** A multiple of a window's tokens. Fewer parts take less time, and more memory. */
const promptTokens = 512;

/** Keys and values of a prompt as chunks compute them, so that no program of prompts is needed. */
export async function prefillByChunks(
  chunks: Chunks,
  tokens: readonly number[],
): Promise<KvPrefix> {
  const { kvShape } = chunks;
  const capacity = Math.ceil(tokens.length / windowTokens) * windowTokens;
  const cache = new KvCache({ ...kvShape, capacity }, 1);
  const parts: KvPrefix[] = [];
  for (let from = 0; from < tokens.length; from += promptTokens) {
    const part = tokens.slice(from, from + promptTokens);
    const computed = await chunks.chunk(part, { cache, row: 0, length: from });
    if (from + part.length < tokens.length) cache.load(0, computed, from);
    parts.push(computed);
  }
  return parts.length === 1 ? parts[0]! : joined(parts, kvShape);
}

/** Keys and values of tokens that follow one another. */
function joined(parts: readonly KvPrefix[], { kvHeads, headDim }: Shape): KvPrefix {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const of = (kind: 'keys' | 'values'): Float32Array[] =>
    parts[0]![kind].map((_, layer) => {
      const whole = new Float32Array(kvHeads * length * headDim);
      for (let head = 0; head < kvHeads; head++) {
        let at = head * length * headDim;
        for (const part of parts) {
          const size = part.length * headDim;
          whole.set(part[kind][layer]!.subarray(head * size, (head + 1) * size), at);
          at += size;
        }
      }
      return whole;
    });
  return { length, keys: of('keys'), values: of('values') };
}
