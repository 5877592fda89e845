import { expect, test } from '@jest/globals';

import { sha256 } from '#agent_rl/gateway/turns/asked.ts';
import { chatCompletion } from '#agent_rl/gateway/dialects/chat-completions.ts';
import { sessionRecord } from '#agent_rl/gateway/turns/session-record.ts';
import { WholeAnswer } from '#agent_rl/http/answer-request.ts';
import { scriptedSession } from '#tests/support/scripted-session.ts';

const tools = [
  {
    type: 'function',
    function: {
      name: 'search',
      description: 'Finds documents.',
      parameters: { type: 'object', properties: { query: { type: 'string' } } },
    },
  },
];
const call =
  '<think>look it up</think><tool_call>\n{"name": "search", "arguments": {"query": "a"}}\n</tool_call>';

async function ask(session: Parameters<typeof chatCompletion>[1]['session'], body: object) {
  const answer = await chatCompletion(body, {
    session,
    head: { created: 1, model: 'm' },
    signal: new AbortController().signal,
    seed: 1,
    retried: false,
    ignore: (field) => session.ignore(field),
  });
  if (!(answer instanceof WholeAnswer)) throw new Error('It is a stream.');
  answer.sent();
  return answer.body as {
    id: string;
    choices: {
      message: { content: string | null; tool_calls?: { id: string }[] };
      finish_reason: string;
    }[];
  };
}

test('a client that drops thoughts and rewrites arguments continues the sampled tokens', async () => {
  const { session, text } = await scriptedSession((prompt) =>
    prompt.includes('found it') ? '<think>so b</think>b' : call,
  );
  const user = { role: 'user', content: 'What is a?' };
  const first = await ask(session, { messages: [user], tools });
  const [id] = (first.choices[0]?.message.tool_calls ?? []).map((one) => one.id);
  expect(first.choices[0]?.finish_reason).toBe('tool_calls');
  const assistant = {
    role: 'assistant',
    content: '',
    tool_calls: [
      { id, type: 'function', function: { name: 'search', arguments: '{"query":"a"}' } },
    ],
  };
  const result = { role: 'tool', tool_call_id: id, content: 'found it' };
  const second = await ask(session, { messages: [user, assistant, result], tools });
  expect(second.choices[0]?.message.content).toBe('b');
  await session.end();
  const record = sessionRecord(session, 'b');
  expect(record.sequences).toHaveLength(1);
  expect(record.requests).toMatchObject({ turns: 2, delivered: 2, drift: { thoughts: 1 } });
  const sampled = record.sequences[0]!.spans.filter(({ source }) => source === 'sampled').map(
    ({ start, end, turn }) => [
      turn,
      text.tokenizer.decode(record.sequences[0]!.tokens.slice(start, end)),
    ],
  );
  expect(sampled).toEqual([
    [0, `${call}<|im_end|>`],
    [1, '<think>so b</think>b<|im_end|>'],
  ]);
  expect(sha256('')).toHaveLength(64);
});

test('a turn with a valid and a malformed call is recognised when it comes back', async () => {
  const { session } = await scriptedSession((prompt) =>
    prompt.includes('found it')
      ? '<think>so b</think>b'
      : call.replace('</think>', '$&<tool_call>{"name": '),
  );
  const user = { role: 'user', content: 'What is a?' };
  const first = await ask(session, { messages: [user], tools });
  const assistant = first.choices[0]!.message;
  expect(assistant.content).toMatch(/^<tool_call>\{"name": /);
  const [id] = (assistant.tool_calls ?? []).map((one) => one.id);
  expect(id).toMatch(/^call_/);
  const result = { role: 'tool', tool_call_id: id, content: 'found it' };
  await ask(session, { messages: [user, assistant, result], tools });
  await session.end();
  const record = sessionRecord(session, 'b');
  expect(record.sequences).toHaveLength(1);
  expect(record.requests.drift).toMatchObject({ content: 0, history: 0 });
});

const asked = (content: string) => ({ messages: [{ role: 'user', content }] });

test('the messages of a rollout come from its last request, whatever the agent returns', async () => {
  const { session } = await scriptedSession(() => '</think>said');
  for (const name of ['Ferzuri', 'Mirneda', 'Walrami']) await ask(session, asked(`Who? ${name}`));
  await session.end();
  for (const answer of [undefined, 'a/b/c', { first: 'a' }])
    expect(sessionRecord(session, answer).messages[0]).toMatchObject({
      content: 'Who? Walrami',
    });
});

test('an agent that sends requests endlessly is refused after 64 times the turns of one sequence', async () => {
  const { session } = await scriptedSession(() => '</think>said', { maxTurns: 2 });
  for (let turn = 0; turn < 128; turn++) await ask(session, asked('Again?'));
  await expect(ask(session, asked('Again?'))).rejects.toMatchObject({
    status: 400,
    code: 'turn_limit',
  });
  expect(session.refused).toBe('turn-limit');
});
