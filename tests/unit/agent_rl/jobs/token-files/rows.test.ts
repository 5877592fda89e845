import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { AgentRlError } from '#agent_rl/core/errors.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { inOrder } from '#agent_rl/jobs/token-files/continue-rows.ts';
import { float32Numbers } from '#agent_rl/jobs/token-files/float32-numbers.ts';
import { writingFresh } from '#agent_rl/jobs/token-files/fresh-lines.ts';
import {
  type Conversation,
  type GenerationRow,
  readGenerationRow,
} from '#agent_rl/jobs/token-files/generation-rows.ts';
import { InputRows } from '#agent_rl/jobs/token-files/input-rows.ts';
import { readScoreRow, type ScoreRow, windowsOf } from '#agent_rl/jobs/token-files/score.ts';
import { readToolFile } from '#agent_rl/jobs/token-files/tool-file.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, expectRejection, rejectionOf, thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();

describe('A new file of lines', () => {
  test('appears under its name when it is whole', async () => {
    const file = join(folder, 'new', 'lines.jsonl');
    const result = await writingFresh(file, async (write) => {
      write({ a: 1 });
      write({ b: [null, 0.5] });
      expect(existsSync(file)).toBe(false);
      return 'done';
    });
    expect(result).toBe('done');
    expect(readFileSync(file, 'utf8')).toBe('{"a":1}\n{"b":[null,0.5]}\n');
    expect(readdirSync(join(folder, 'new'))).toEqual(['lines.jsonl']);
  });

  test('is not there, nor part of it, when what writes it fails', async () => {
    const writing = writingFresh(join(folder, 'gone', 'lines.jsonl'), async (write) => {
      write({ a: 1 });
      throw new Error('no more');
    });
    await expect(writing).rejects.toThrow('no more');
    expect(readdirSync(join(folder, 'gone'))).toEqual([]);
  });

  test('never takes the place of a file, also of one that came meanwhile', async () => {
    const there = writeBelow(folder, 'there.jsonl', 'mine');
    expect(await rejectionOf(writingFresh(there, async () => undefined))).toMatchObject(
      errorOf('OUTPUT_UNWRITABLE', `${there} already exists and is not overwritten.`),
    );
    const late = join(folder, 'late.jsonl');
    const refused = writingFresh(late, async () => writeFileSync(late, 'mine'));
    await expectRejection(refused, 'OUTPUT_UNWRITABLE');
    expect([readFileSync(there, 'utf8'), readFileSync(late, 'utf8')]).toEqual(['mine', 'mine']);
    const below = writingFresh(join(there, 'lines.jsonl'), async () => undefined);
    await expectRejection(
      below,
      'OUTPUT_UNWRITABLE',
      /^Cannot write .*\/lines\.jsonl: .*--output\.$/,
    );
  });

  test("keeps the user's data, also where it looks like a secret", async () => {
    process.env['SOME_TOKEN'] = 'question-17';
    const file = join(folder, 'names.jsonl');
    await writingFresh(file, async (write) => write({ id: 'question-17' }));
    delete process.env['SOME_TOKEN'];
    expect(readFileSync(file, 'utf8')).toBe('{"id":"question-17"}\n');
  });
});

describe('float32Numbers', () => {
  test('writes short numbers that read back as the same float32 values', () => {
    const random = new KeyedRng(1, 'floats');
    const bits = Uint32Array.from({ length: 20_000 }, () => random.uniform() * 2 ** 32);
    const values = new Float32Array(bits.buffer).filter((value) => Number.isFinite(value));
    expect(values.length).toBeGreaterThan(19_000);
    const text = JSON.stringify(float32Numbers(values, 'values'));
    expect(Float32Array.from(JSON.parse(text) as number[])).toEqual(values);
    expect(JSON.stringify(float32Numbers([Math.fround(-0.1)], 'value'))).toBe('[-0.100000001]');
  });

  test.each([NaN, -Infinity])('refuses %d, which JSON cannot hold', (value) => {
    expect(thrownBy(() => float32Numbers([-1, value], 'in.jsonl:3'))).toMatchObject(
      errorOf('ENGINE_FAILED', `in.jsonl:3: log-probability 1 is ${value}.`),
    );
  });
});

const rowsOf = (name: string, text: string): InputRows<ScoreRow> =>
  new InputRows(writeBelow(folder, name, text), readScoreRow({ vocabSize: 10, maxPositions: 4 }));

describe('The reader of lines to score', () => {
  test('reads lines in order with their places and names', async () => {
    const rows = rowsOf('good.jsonl', '{"ids":[0,9]}\n\n{"id":"b","ids":[1]}\n{"id":7,"ids":[2]}');
    const seen: number[] = [];
    await rows.check(({ ids }) => seen.push(ids.length));
    expect(seen).toEqual([2, 1, 1]);
    const found = [];
    for await (const row of rows) found.push(row);
    expect(found).toEqual([
      { line: 1, row: { ids: Int32Array.of(0, 9) } },
      { line: 3, row: { id: 'b', ids: Int32Array.of(1) } },
      { line: 4, row: { id: 7, ids: Int32Array.of(2) } },
    ]);
  });

  test.each([
    ['{', ':1: is not JSON'],
    ['[1]', ':1: is [1]; expected an object'],
    ['{"tokens":[1]}', ':1 tokens: is not known; allowed are ids, id.'],
    ['{"id":"a"}', ':1 ids: is nothing; expected a list of at least one token id.'],
    ['{"ids":[]}', ':1 ids: is []; expected a list of at least one token id.'],
    ['{"ids":[1,2.5]}', ':1 ids[1]: is 2.5; token ids of this model are integers from 0 to 9.'],
    ['{"ids":[-1]}', ':1 ids[0]: is -1; token ids'],
    ['{"ids":[1,2,3,4,5]}', ':1 ids: has 5 tokens, and the model has 4 positions.'],
    ['{"ids":[1],"id":null}', ':1 id: is null; expected a string or a number.'],
    ['\n', ':1: the file is empty.'],
  ])('refuses a line with its file and number: %j', async (text, message) => {
    const rows = rowsOf('bad.jsonl', text);
    const refused = rows.check(() => undefined);
    await expectRejection(refused, 'DATASET_INVALID', `${rows.file}${message}`);
  });

  test('reports all bad lines together', async () => {
    const rows = rowsOf('many.jsonl', '{"ids":[]}\n{"ids":[1]}\n{"ids":[99],"x":1}\n');
    const error = await rejectionOf(rows.check(() => undefined));
    expect(error.message.split('\n').map((line) => line.replace(rows.file, ''))).toEqual([
      ':1 ids: is []; expected a list of at least one token id.',
      ':3 x: is not known; allowed are ids, id.',
      ':3 ids[0]: is 99; token ids of this model are integers from 0 to 9.',
    ]);
  });

  test.each([
    ['nothing.jsonl', 'no such file'],
    ['', 'it is not a regular file'],
  ])('refuses %j, which it cannot read twice', async (name, why) => {
    const rows = new InputRows(join(folder, name), readScoreRow({ vocabSize: 9, maxPositions: 9 }));
    const refused = rows.check(() => undefined);
    await expectRejection(refused, 'DATASET_INVALID', why);
  });

  test('refuses a file that changed after it was checked', async () => {
    const rows = rowsOf('changed.jsonl', '{"ids":[1]}\n');
    await rows.check(() => undefined);
    rowsOf('changed.jsonl', '{"ids":[1]}\n{"ids":[11]}\n');
    const readOn = async () => {
      for await (const { line } of rows) expect(line).toBe(1);
    };
    expect((await rejectionOf(readOn())).message).toContain(':2 ids[0]: is 11');
  });

  test('cuts lines into stretches of at least a number of tokens', async () => {
    const text = [3, 1, 1, 4, 2].map((n) => `{"ids":[${'1'.repeat(n).split('').join()}]}`);
    const rows = rowsOf('windows.jsonl', text.join('\n'));
    const lines = [];
    for await (const window of windowsOf(rows, 4)) lines.push(window.map(({ line }) => line));
    expect(lines).toEqual([[1, 2], [3, 4], [5]]);
  });
});

const given = { name: 'given', description: 'Of the command.', parameters: Type.Object({}) };
const own = { name: 'own', description: 'Of the line.', parameters: { type: 'object' } };

/** One token a message and one a tool, to see both. */
const encode = ({ messages, tools }: Conversation): number[] => {
  if (messages.some(({ content }) => content === 'unprintable')) {
    throw new AgentRlError('TOKENIZER_INVALID', 'The template cannot say it.');
  }
  return [...messages.map(() => 1), ...tools.map(() => 2)];
};

function read(value: unknown): { row: GenerationRow | undefined; problems: readonly string[] } {
  const problems: string[] = [];
  const model = { vocabSize: 10, maxPositions: 4 };
  const readRow = readGenerationRow({ model, tools: [given], encode });
  const row = readRow(value, (path, text) => problems.push(`${path}: ${text}`));
  return { row, problems };
}

const hello = { role: 'user', content: 'Hello.' };

describe('A line to continue', () => {
  test('is token ids', () => {
    const row = { id: 3, ids: [1, 2, 3] };
    expect(read(row)).toEqual({ row, problems: [] });
  });

  test('is a conversation with the tools of the command, or with its own instead', () => {
    const { row } = read({ messages: [hello] });
    expect(row).toMatchObject({ ids: [1, 2], conversation: { messages: [hello], tools: [given] } });
    const plain = { ...own, name: 'plain' };
    const functions = [{ type: 'function', function: own }, plain];
    const other = read({ messages: [hello], tools: functions }).row;
    expect(other?.conversation?.tools).toEqual([own, plain]);
    expect(read({ messages: [hello], tools: [] }).row?.ids).toEqual([1]);
  });

  test('is a conversation in the format of supervised training', () => {
    const call = { name: 'calculator', arguments: { expression: '6 * 7' } };
    const asking = { role: 'assistant', content: '' };
    const result = { role: 'tool', name: 'calculator', content: '42' };
    const messages = [hello, { ...asking, tool_calls: [call] }, result];
    const id = 'call_0_0';
    expect(read({ messages, tools: [] }).row?.conversation?.messages).toEqual([
      hello,
      { ...asking, toolCalls: [{ id, ...call }] },
      { ...result, callId: id },
    ]);
  });

  test.each([
    [{}, ': needs either messages or ids.'],
    [{ ids: [1], messages: [hello] }, ': needs either messages or ids.'],
    [{ ids: [1], tools: [] }, 'tools: has no effect on ids'],
    [{ ids: [10] }, 'ids[0]: is 10; token ids of this model are integers from 0 to 9.'],
    [{ ids: [1, 2, 3, 4] }, 'ids: has 4 tokens, which leaves no room to generate'],
    [{ messages: [hello, hello, hello] }, 'messages: has 4 tokens, which leaves no room'],
    [{ messages: [] }, 'messages: must NOT have fewer than 1 items'],
    [{ messages: [{ ...hello, role: 'robot' }] }, 'messages[0].role: must be one of system, user,'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content: is missing. Present: role.'],
    [{ messages: [{ ...hello, role: 'assistant' }] }, 'messages: ends with an assistant message'],
    [{ messages: [{ ...hello, content: 'unprintable' }] }, 'messages: The template cannot'],
    [{ messages: [hello], tools: {} }, 'tools: is {}; expected a list of tools.'],
    [{ messages: [hello], tools: [own, { name: 'x' }] }, 'tools[1]: is {"name":"x"}; expected {'],
    [{ prompt: 'Hello.' }, 'prompt: is not known; allowed are messages, ids, tools, id.'],
  ])('is refused when it is %j', (value, problem) => {
    const { problems } = read(value);
    expect(problems.join('\n')).toContain(problem);
  });
});

test('a file of tools is read, or refused by its name', () => {
  expect(readToolFile(writeBelow(folder, 'tools.json', JSON.stringify([own])))).toEqual([own]);
  writeBelow(folder, 'broken.json', '[');
  writeBelow(folder, 'wrong.json', '[{"name":"x"}]');
  for (const name of ['nothing.json', 'broken.json', 'wrong.json']) {
    const error = thrownBy(() => readToolFile(`${folder}/${name}`));
    expect(error).toMatchObject(errorOf('CONFIG_INVALID', `--tools ${folder}/${name}: `));
  }
});

test('inOrder passes on results by place, in whatever order they arrive', () => {
  const seen: string[] = [];
  const put = inOrder<string>((item) => seen.push(item));
  put(1, 'b');
  put(3, 'd');
  expect(seen).toEqual([]);
  put(0, 'a');
  expect(seen).toEqual(['a', 'b']);
  put(2, 'c');
  expect(seen).toEqual(['a', 'b', 'c', 'd']);
});
