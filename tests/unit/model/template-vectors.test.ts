import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { ChatTemplate } from '#model/text/chat-template.ts';
import { templatesFolder } from '#tests/support/templates.ts';

type Json = Readonly<Record<string, unknown>>;

interface Vector {
  template: string;
  messages: readonly Json[];
  tools: readonly Json[] | null;
  cue: boolean;
  text?: string;
  /** What the template raised. */
  refusal?: string;
}

const read = (name: string): string => readFileSync(join(templatesFolder, name), 'utf8');
const vectors = JSON.parse(read('vectors.json')) as readonly Vector[];

describe.each(['llama3', 'qwen2.5', 'plain'])('A template laid out as %s', (name) => {
  const template = new ChatTemplate(read(`${name}.jinja`), { bos_token: '<|begin_of_text|>' });
  const own = vectors.filter((vector) => vector.template === name);
  const rendered = ({ messages, tools, cue }: Vector): string =>
    template.renderRaw(messages, tools ?? undefined, { addGenerationPrompt: cue });

  test('is rendered as in Python', () => {
    const texts = own.filter(({ text }) => text !== undefined);
    expect(texts.length).toBeGreaterThanOrEqual(12);
    expect(texts.map(rendered)).toEqual(texts.map(({ text }) => text));
  });

  test('refuses what it refuses in Python', () => {
    for (const vector of own.filter(({ refusal }) => refusal !== undefined)) {
      expect(() => rendered(vector)).toThrow(vector.refusal);
    }
  });
});
