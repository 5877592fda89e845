import { describe, expect, test } from '@jest/globals';

import { answerCall } from '#agent_rl/gateway/doors/answer-call.ts';
import type { Session } from '#agent_rl/gateway/turns/session.ts';
import { sessionRecord } from '#agent_rl/gateway/turns/session-record.ts';
import { type EventAnswer, WholeAnswer } from '#agent_rl/http/answer-request.ts';
import { calling, user } from '#tests/support/agent-client.ts';
import { scriptedSession } from '#tests/support/scripted-session.ts';

type Item = Record<'id' | 'type', string> & { call_id?: string };
type Response = { id: string; output: Item[] } & Record<string, unknown>;

const parameters = { type: 'object', properties: { query: { type: 'string' } } };
const search = { type: 'function', name: 'search', parameters, strict: true };
const call = `look it up${calling('search', 'a').replace('</think>', '$&Wait.')}`;

const asked = async (session: Session, body: object) => {
  const { signal } = new AbortController();
  const request = { method: 'POST', path: '/v1/responses', header: () => undefined, signal };
  return answerCall({ ...request, body }, session, { unsupported: 'refuse' });
};

async function ask(session: Session, body: object): Promise<Response> {
  const answer = await asked(session, body);
  if (!(answer instanceof WholeAnswer)) throw new Error('It is a stream.');
  answer.sent();
  return answer.body as Response;
}

async function streamed(session: Session, body: object) {
  const answer = await asked(session, { ...body, stream: true });
  const events: Record<string, unknown>[] = [];
  for await (const event of (answer as EventAnswer).events)
    events.push(JSON.parse(event) as Record<string, unknown>);
  return events;
}

const reference = (id: string | undefined) => ({ type: 'item_reference', id });
const output = (callId: string | undefined, found: unknown = 'found it') => {
  const type = 'function_call_output';
  return { type, call_id: callId, output: found };
};
const userOf = (content: unknown) => ({ role: 'user', content });
/** A session whose model calls the tool and then answers. */
const searching = () =>
  scriptedSession((prompt) => (prompt.includes('found it') ? 'so b</think>b' : call));
const shared = { instructions: 'Be brief.', tools: [search] };

/** Sequences, and what clients changed. */
function became(session: Session) {
  const { sequences, requests } = sessionRecord(session, undefined);
  const drift = Object.entries(requests.drift).filter(([, count]) => count > 0);
  return { sequences: sequences.length, turns: requests.turns, drift: Object.fromEntries(drift) };
}

test('an answer has the fields of the API', async () => {
  const { session } = await scriptedSession(() => call);
  const answer = await ask(session, { model: 'm', input: 'What is a?', tools: [search] });
  const turn = answer.id.replace('resp_', '');
  const said = { type: 'output_text', text: 'Wait.', annotations: [] };
  const given = { name: 'search', arguments: '{"query":"a"}' };
  expect(answer).toMatchObject({
    object: 'response',
    model: 'm',
    status: 'completed',
    incomplete_details: null,
    output: [
      {
        id: `rs_${turn}`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'look it up' }],
      },
      { id: `msg_${turn}`, type: 'message', role: 'assistant', content: [said] },
      { id: `fc_${turn}_0`, type: 'function_call', call_id: `call_${turn}_0`, ...given },
    ],
  });
  const usage = answer['usage'] as Record<string, number>;
  expect(usage['total_tokens']).toBe(usage['input_tokens']! + usage['output_tokens']!);
});

test('a turn cut off by its limit is incomplete', async () => {
  const { session } = await scriptedSession(() => 'so</think>A long answer to it.');
  const answer = await ask(session, { input: 'What is a?', max_output_tokens: 6 });
  expect(answer).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    max_output_tokens: 6,
  });
});

describe('A turn continues', () => {
  test.each<[string, (items: readonly Item[]) => readonly object[]]>([
    ['by its items', (items) => items],
    ['by references to them', (items) => items.map(({ id }) => reference(id))],
    [
      'by references to what was said, and the call',
      ([one, two, called]) => [
        reference(one?.id),
        reference(two?.id),
        { ...called, id: undefined },
      ],
    ],
  ])('%s', async (_, sentBack) => {
    const { session } = await searching();
    const first = await ask(session, { ...shared, input: [user('What is a?')] });
    const parts = [{ type: 'input_text', text: 'found it' }];
    const result = output(first.output.at(-1)?.call_id, parts);
    const input = [user('What is a?'), ...sentBack(first.output), result];
    const second = await ask(session, { ...shared, input });
    expect(second.output.at(-1)).toMatchObject({ content: [{ text: 'b' }] });
    expect(became(session)).toEqual({ sequences: 1, turns: 2, drift: {} });
  });

  test('a turn continues by the id of its response, any number of times', async () => {
    const { session } = await searching();
    const first = await ask(session, { ...shared, input: 'What is a?' });
    const input = [output(first.output.at(-1)?.call_id)];
    const second = await ask(session, { ...shared, previous_response_id: first.id, input });
    expect(second['previous_response_id']).toBe(first.id);
    const asking = 'And found it twice?';
    await ask(session, { ...shared, previous_response_id: second.id, input: asking });
    expect(became(session)).toEqual({ sequences: 1, turns: 3, drift: {} });
  });

  test('the right turn continues when two turns have the same text', async () => {
    const { session, requests } = await scriptedSession(() => '</think>Hello.');
    const first = await ask(session, { input: 'Hi.' });
    const second = await ask(session, { input: 'Hi.' });
    expect(first.id).not.toBe(second.id);
    await ask(session, { input: [user('Hi.'), ...first.output, user('And?')] });
    expect(`resp_${session.tree.nodes.at(-1)?.parent?.id}`).toBe(first.id);
    expect(requests).toHaveLength(3);
  });
});

test('a request with other ids begins its own turn', async () => {
  const { session } = await scriptedSession(() => '</think>Hello.');
  const first = await ask(session, { input: 'Hi.' });
  const second = await ask(session, { input: [user('Hi.'), ...first.output, user('And?')] });
  await ask(session, { input: [user('Hi.'), ...first.output, ...second.output, user('Well?')] });
  const given = session.tree.nodes.at(-1)?.given.map(({ message }) => message.role);
  expect(given).toEqual(['user', 'assistant', 'assistant', 'user']);
});

test('a developer message counts as the system, and texts may be in parts', async () => {
  const { session } = await scriptedSession(() => '</think>Hello.');
  const texts = (type: string, ...all: string[]) => all.map((text) => ({ type, text }));
  const refusal = { type: 'refusal', refusal: ' No.' };
  const thought = texts('reasoning_text', 'hm');
  await ask(session, {
    instructions: 'Be brief.',
    input: [
      { type: 'message', role: 'developer', content: 'Be kind.' },
      userOf(texts('input_text', 'H', 'i.')),
      { type: 'reasoning', id: 'rs_of_another', summary: [], content: thought },
      { role: 'assistant', content: [...texts('output_text', 'Yes?'), refusal] },
      user('So?'),
    ],
  });
  expect(session.tree.nodes[0]?.given.map(({ message }) => message)).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Hi.' },
    { role: 'assistant', content: 'Yes? No.', reasoning: 'hm' },
    { role: 'user', content: 'So?' },
  ]);
});

test('a stream has the events of the API, one item after the other', async () => {
  const { session } = await scriptedSession(() => call);
  const events = await streamed(session, { input: 'What is a?', tools: [search] });
  const item = (...parts: string[]) => ['output_item.added', ...parts, 'output_item.done'];
  const [thought, text, given] = ['reasoning_summary', 'output_text', 'function_call_arguments'];
  const steps = ['part.added', 'text.delta', 'text.done', 'part.done'];
  expect(events.map(({ type }) => String(type).replace('response.', ''))).toEqual([
    'created',
    'in_progress',
    ...item(...steps.map((step) => `${thought}_${step}`)),
    ...item('content_part.added', `${text}.delta`, `${text}.done`, 'content_part.done'),
    ...item(`${given}.delta`, `${given}.done`),
    'completed',
  ]);
  expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()]);
  const last = events.at(-1)?.['response'] as Response;
  const done = events.filter(({ type }) => type === 'response.output_item.done');
  expect(done.map((one) => one['item'])).toEqual(last.output);
  expect(done.map(({ output_index: place }) => place)).toEqual([0, 1, 2]);
  await session.end();
  expect(sessionRecord(session, undefined).requests.delivered).toBe(1);
});

test('a stream has an empty message for a turn without text', async () => {
  const { session } = await scriptedSession(() => '</think>');
  const last = (await streamed(session, { input: 'What is a?' })).at(-1);
  expect(last).toMatchObject({
    type: 'response.completed',
    response: { output: [{ type: 'message', content: [{ text: '' }] }] },
  });
});

test('a stream gives each thought between texts an item, and the items together are the turn', async () => {
  const said = 'one</think>First.<think>two</think> Then.';
  const { session } = await scriptedSession(() => said, { live: true });
  const last = (await streamed(session, { input: 'What is a?' })).at(-1);
  const { output: items } = (last as { response: Response }).response;
  expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
  for (const sentBack of [items, items.map(({ id }) => reference(id))])
    await ask(session, { input: [user('What is a?'), ...sentBack, user('So?')] });
  expect(became(session)).toMatchObject({ turns: 3, drift: {} });
  expect(session.tree.nodes.map(({ depth }) => depth)).toEqual([0, 1, 1]);
});

describe('A refusal names the place', () => {
  test.each<[object, string]>([
    [
      { input: [reference('rs_0123456789abcdef')] },
      'input[0]: this server has no stored item with the id "rs_0123456789abcdef"',
    ],
    [
      { input: [user('a'), reference('x')] },
      'input[1]: this server has no stored item with the id "x"',
    ],
    [
      { input: 'a', previous_response_id: 'resp_1' },
      'previous_response_id: this server has no stored response with the id "resp_1"',
    ],
    [{ input: [{ type: 'web_search_call' }] }, 'input[0]: an item of type "web_search_call"'],
    [{ input: ['a'] }, 'input[0]: is not an object'],
    [{ input: [userOf([{ type: 'input_image' }])] }, 'input[0].content: a part is not text'],
    [{ input: [user('a'), output('call_9')] }, 'input[1].tool_call_id: is "call_9"'],
    [{ input: 'a', tools: [{ type: 'web_search' }] }, 'tools[0]: is {"type":"web_search"}'],
    [{ input: 'a', text: { format: {} } }, 'text: {"format":{}} is not supported'],
    [{ messages: [] }, 'messages'],
  ])('%j is refused there', async (body, message) => {
    const { session } = await scriptedSession(() => 'never');
    await expect(asked(session, body)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(message),
    });
  });
});
