import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { AgentRlError } from '#agent_rl/core/errors.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { drawnMasks, type TranscriptRecord } from '#agent_rl/core/transcript.ts';
import * as formatsOf from '#agent_rl/policies/index.ts';
import { newestCheckpoint } from '#agent_rl/runs/checkpoints.ts';
import { readTaskFile } from '#dataset/tasks/task-files.ts';
import { readConversations } from '#dataset/demonstrations/conversations.ts';
import { parseHeader } from '#model/weights/safetensors-header.ts';
import { episodeRecord } from '#agent_rl/runs/episodes/episode-record.ts';
import { episodesIn, writeJournal } from '#tests/support/journal.ts';
import { memberOf, played } from '#tests/support/rollouts.ts';
import { play } from '#tests/support/play-episode.ts';
import * as fc from '#tests/support/properties.ts';
import { says } from '#tests/support/scripted-policy.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

/*
 * Malformed inputs of each kind, most of them nearly right: nothing crashes, and what is refused is refused with a code and
 * a place. AGENT_RL_MALFORMED=1 tries 10,000 of each, which takes minutes.
 */

const folder = temporaryFolder();
const share = process.env['AGENT_RL_MALFORMED'] === '1' ? 1 : 0.02;
const runs = (most: number) => ({ numRuns: Math.ceil(share * most) });

/** What a refusal must be. */
function expectRefused(thrown: unknown, code: string, place: RegExp): void {
  expect(AgentRlError.is(thrown) ? thrown.code : thrown).toBe(code);
  expect((thrown as Error).message).toMatch(place);
}

/** Text near what is right: pieces of it and words of their language, cut and joined anyhow, with junk between them. */
const near = (words: string, ...pieces: readonly string[]): fc.Arbitrary<string> => {
  const right = fc.constantFrom(...words.split(' '), ...pieces);
  const noise = fc.oneof(fc.string({ maxLength: 8, unit: 'binary' }), fc.json({ maxDepth: 2 }));
  const part = fc.oneof({ weight: 2, arbitrary: right }, { weight: 1, arbitrary: noise });
  return fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));
};

describe('The reader of calls', () => {
  const parameters = Type.Object({ code: Type.String() });
  const tools = [{ name: 'code_exec', description: 'Runs', parameters }];
  const formats = [
    new formatsOf.HermesFormat(),
    new formatsOf.Llama3Format({ settings: {} }),
    new formatsOf.PlainFormat(),
    new formatsOf.PythonBlockFormat({ settings: {} }),
  ];
  const call = near(
    '<tool_call> </tool_call> <think> </think> {"name": "arguments": <|python_tag|> ``` code_exec( { } __proto__',
    '{"name": "code_exec", "arguments": {"code": "1"}}',
    '```python\n',
    '\n',
    '"\\ud800"',
  );

  test.each(formats.map((format) => [format.constructor.name, format] as const))(
    '%s: every text is a call, or malformed with the reason',
    (_, format) => {
      fc.assert(
        fc.property(call, fc.boolean(), (text, inThought) => {
          const read = format.read({ text, turn: 1, inThought, tools });
          expect(read.role).toBe('assistant');
          for (const { id, name, arguments: given } of read.toolCalls ?? []) {
            expect(id).toMatch(/^call_1_\d+$/);
            expect(typeof name).toBe('string');
            expect(Object.getPrototypeOf(given)).toBe(Object.prototype);
          }
          for (const { problem } of read.malformedCalls ?? []) expect(problem).not.toBe('');
        }),
        runs(2500),
      );
    },
  );
});

describe('A malformed transcript', () => {
  const argument = fc.oneof(fc.anything(), fc.constantFrom('x', '__proto__', 'toString', Infinity));
  const turn = fc.record({
    name: fc.constantFrom('echo', 'ech', '__proto__', 'constructor', ''),
    text: argument,
    tokens: fc.array(fc.nat(1000), { maxLength: 6 }),
    stop: fc.constantFrom('end-of-turn', 'max-tokens', 'context-full'),
    result: fc.oneof(fc.anything(), fc.string(), fc.constant('ok')),
  });

  test('is whole whatever a policy writes and a tool answers, and its mask marks what was sampled', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), async (turns) => {
        const sampled: number[] = [];
        const { episode } = await play({
          script: ({ key, maxTokens }) => {
            const now = turns[key.turn % turns.length]!;
            const tokens = now.tokens.slice(0, maxTokens);
            sampled.push(...tokens);
            const message = says('', [now.name, { text: now.text }]);
            return { message, tokens, stop: now.stop as 'end-of-turn' };
          },
          tool: () => ({ content: turns[0]?.result }),
        });
        expect(episode.reward).toBe(1);
        const [{ tokens, logProbs }] = episode.sequences as [TranscriptRecord];
        expect(logProbs).toHaveLength(tokens.length);
        const [mask] = drawnMasks(episode.sequences);
        expect(tokens.filter((_, place) => mask?.[place] === 1)).toEqual(sampled);
      }),
      runs(10_000),
    );
  });
});

describe('A malformed line', () => {
  const line = near(
    '"task_id": {"prompt": { } [ ] , null 1e999 \n \r\n \u2028 \ufeff',
    '{"task_id": "a", "prompt": "b"}',
    '{"task_id": "a", "prompt": "b", "tests": {"kind": "stdin", "cases": []}}',
    '{"messages": [{"role": "user", "content": "a"}]}',
    '{"role": "assistant", "content": ""}',
  );
  const file = join(folder, 'lines.jsonl');
  const readers: [string, (path: string) => Promise<unknown>][] = [
    ['code tasks', (path) => readTaskFile(path, 'code')],
    ['plain tasks', (path) => readTaskFile(path, 'plain')],
    ['search tasks', (path) => readTaskFile(path, 'search')],
    ['demonstrations', readConversations],
  ];
  test.each(readers)('of %s is read, or refused with file and line', async (_, read) => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 4 }), async (lines) => {
        writeFileSync(file, lines.join('\n'));
        try {
          await read(file);
        } catch (thrown) {
          expectRefused(thrown, 'DATASET_INVALID', /\.jsonl/);
        }
      }),
      runs(2000),
    );
  });
});

describe('A malformed journal', () => {
  const run = join(folder, 'journalled');
  const rollouts = [0, 1].map((slot) => played({ when: 'train', iteration: 1, slot }));
  const file = writeJournal(run, { rollouts });
  const whole = readFileSync(file);
  const at = fc.nat(whole.length);
  const replaced = (from: number, to: number, by: Uint8Array) => (bytes: Buffer) =>
    Buffer.concat([bytes.subarray(0, from), by, bytes.subarray(to)]);
  const bytes = fc.uint8Array({ maxLength: 12 });
  const damage = fc.oneof(
    fc.tuple(at, bytes).map(([from, by]) => replaced(from, from + by.length, by)),
    fc.tuple(at, bytes).map(([from, by]) => replaced(from, from, by)),
    fc.tuple(at, fc.nat(40)).map(([from, count]) => replaced(from, from + count, new Uint8Array())),
    // What a power cut may leave.
    fc.nat(40).map((count) => replaced(whole.length, whole.length, new Uint8Array(count))),
  );

  test('is read, or refused with its place, and what it gives is as it was recorded', async () => {
    const recorded = rollouts.map((one) => episodeRecord(memberOf(one)));
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (changes) => {
        writeFileSync(
          file,
          changes.reduce<Buffer>((all, change) => change(all), whole),
        );
        try {
          for (const episode of await episodesIn(run, 'train'))
            expect(JSON.stringify(episode)).toBe(JSON.stringify(recorded[episode.slot]));
        } catch (thrown) {
          expectRefused(thrown, 'DATASET_INVALID', /journal/);
        }
      }),
      runs(2000),
    );
  });
});

describe('A malformed safetensors header', () => {
  const header = near(
    '{"a": "__proto__": { } [ ] , "F16" 1e308',
    '{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}',
    '{"dtype": "F32", "shape": [',
    '"data_offsets": [0, 9007199254740993]',
    '"shape": [-1, 4294967296, 4294967296]',
  );

  test('is read, or refused with the file', () => {
    fc.assert(
      fc.property(header, fc.nat(64), (text, bytes) => {
        try {
          for (const { start, end } of parseHeader(text, bytes, 'w.safetensors')) {
            expect(start).toBeGreaterThanOrEqual(0);
            expect(end).toBeLessThanOrEqual(bytes);
          }
        } catch (thrown) {
          expectRefused(thrown, 'MODEL_INVALID', /w\.safetensors/);
        }
      }),
      runs(10_000),
    );
  });
});

describe('A malformed checkpoint', () => {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const manifest = near(
    `{"files": "trainer-state.json": "${sha256('{}')}" { } , null`,
    `{"schema": 1, "step": 2, "weightsSha256": "", "files": {"trainer-state.json": "${sha256('{}')}"}}`,
    '{"files": {',
    '"../../../etc/passwd": ""',
    '"__proto__": {}',
    '"": "x"',
  );

  test('is whole, or skipped with the reason and refused with the folder', async () => {
    const step = join(folder, 'checkpoints', 'step-2');
    await fc.assert(
      fc.asyncProperty(manifest, fc.constantFrom('{}', '', 'x'), async (text, state) => {
        writeBelow(step, 'manifest.json', text);
        writeBelow(step, 'trainer-state.json', state);
        const warnings: string[] = [];
        const found = newestCheckpoint(join(folder, 'checkpoints'), (one) => warnings.push(one));
        const thrown: unknown = await found.then(
          () => undefined,
          (problem: unknown) => problem,
        );
        const isWhole = thrown === undefined;
        if (!isWhole) expectRefused(thrown, 'CHECKPOINT_INVALID', /checkpoints/);
        expect(isWhole && state !== '{}').toBe(false);
        const skipped = warnings.filter((one) => one.includes('step-2 is skipped: '));
        expect(skipped).toHaveLength(isWhole ? 0 : 1);
      }),
      runs(10_000),
    );
  });
});

const texts = ['code_exec_grpo', 'mixed_grpo', 'medquad_rag_grpo', 'mixed_sft'].map((name) =>
  readFileSync(join(packageRoot(), 'configs', `${name}.yaml`), 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(#|$)/.test(line)),
);

/** What stands where something else should. */
const words = 'null [] {} -1 1e999 .nan true 9007199254740993 *b [[[1]]] "\\u0000" \t } toString';
const phrases = ['&a [*a]', '!!binary "AAAA"', '!!set {a}', '{a: {b: 1}}', '|\n  x', '{type: 3}'];
const others = ['[{type: search}]', '? x', '- 1', '{__proto__: {a: 1}}'];
const junk = [...words.split(' '), ...phrases, ...others];
const blocks = ['run', 'train', 'tools', 'extends', 'datasets', 'dataset', 'policy', 'environment'];
const keys = blocks.concat(['rewards', 'plugins', 'eval', 'toString', '__proto__']);

type Edit = (lines: string[], at: number) => void;

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.constantFrom(...junk).map((value): Edit => (lines, at) => {
    lines[at] = lines[at]?.replace(/:.*$/, () => `: ${value}`) ?? '';
  }),
  fc.constant<Edit>((lines, at) => void lines.splice(at, 1)),
  fc
    .tuple(fc.constantFrom(...keys), fc.constantFrom(...junk), fc.nat(2))
    .map(([key, value, depth]): Edit => (lines, at) => {
      lines.splice(at, 0, `${'  '.repeat(depth)}${key}: ${value}`);
    }),
  fc.constant<Edit>((lines, at) => void (lines[at] = ` ${lines[at] ?? ''}`)),
  fc.string({ minLength: 1, maxLength: 2 }).map(
    (text): Edit =>
      (lines, at) =>
        void (lines[at] = `${lines[at] ?? ''}${text}`),
  ),
);

test('a run file with any spoiled lines is read, or refused with a code and a place', async () => {
  const edits = fc.array(fc.tuple(edit, fc.nat()), { minLength: 1, maxLength: 4 });
  const training = fc.boolean();
  let read = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...texts), edits, training, async (text, changes, trains) => {
      const lines = [...text];
      for (const [change, place] of changes) change(lines, place % Math.max(1, lines.length));
      const file = writeBelow(folder, 'spoiled.yaml', lines.join('\n'));
      const said = await prepareRun({ file, training: trains }).then(
        () => 'read',
        (thrown: unknown) => {
          if (!AgentRlError.is(thrown)) throw thrown;
          return `${thrown.code} ${thrown.message}`;
        },
      );
      expect(said).toMatch(/^read$|^(CONFIG_INVALID|PLUGIN_\w+) [^]*spoiled\.yaml:\d+/);
      if (said === 'read') read += 1;
    }),
    { numRuns: 500 },
  );
  // Some are harmless: the property is not only about refusals.
  expect(read).toBeGreaterThan(0);
});
