import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { inOrder } from '#agent_rl/jobs/token-files/continue-rows.ts';
import {
  readGenerationRow,
  type Conversation,
  type GenerationRow,
} from '#agent_rl/jobs/token-files/generation-rows.ts';
import { readToolFile } from '#agent_rl/jobs/token-files/tool-file.ts';
import { AgentRlError } from '#agent_rl/core/errors.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
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
