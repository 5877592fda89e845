import { describe, expect, test } from '@jest/globals';

import { sessionRecord } from '#agent_rl/gateway/turns/session-record.ts';
import { type ChatMessage, path, post, said, tool, user } from '#tests/support/agent-client.ts';
import { counting, held, openedSession } from '#tests/support/opened-session.ts';
import { answering } from '#tests/support/scripted-session.ts';
import { until } from '#tests/support/until.ts';

/*
 * The rules of the gateway, and what peers ran into; the numbers name the traps that they report. Late writes (5), bodies
 * and beats (9) are in http-door.test.ts, templates that strip thoughts (6), several sequences (11) and auxiliary calls (10) in
 * by-hand.test.ts. What needs a proxy, several servers or one record for several attempts does not arise (3, 4, 8, 13, 17).
 */

const tools = [tool('search')];
const body = { messages: [user('Q')] };

/** A session whose turns wait until one after the other is let go on. */
async function heldSession() {
  const { waiting, script } = held(counting());
  const isWaiting = (count = 1) => until(() => waiting.length === count);
  const goOn = async () => {
    await isWaiting();
    waiting.pop()!();
  };
  return { ...(await openedSession(script)), waiting, isWaiting, goOn };
}

/** A session whose client left its stream when the turn was whole and not yet read. */
async function leftSession() {
  const opened = await openedSession(counting());
  const gone = new AbortController();
  const asked = post({ ...body, stream: true }, { signal: gone.signal });
  const reader = (await opened.fetch(path, asked)).body!.getReader();
  await reader.read();
  await until(() => opened.session.tree.nodes.length === 1);
  gone.abort(new Error('gone'));
  return { ...opened, reader };
}

describe('Untrained turns (7)', () => {
  test('a retry of a request gets the recorded answer', async () => {
    const { ask, ended } = await openedSession(counting());
    const first = await ask(body);
    const again = await ask(body, { headers: { 'x-stainless-retry-count': '1' } });
    const other = await ask(body, { headers: { 'x-stainless-retry-count': '0' } });
    expect(again).toEqual({ ...first, created: (again as { created?: unknown }).created });
    expect(other.choices[0]?.message.content).toBe('answer 2');
    const { requests, sequences } = await ended();
    expect(requests).toMatchObject({ turns: 2, replayed: 1, delivered: 2 });
    expect(sequences).toHaveLength(2);
  });

  test('a retry during the first request joins it and outlives it', async () => {
    const { ask, ended, isWaiting, goOn } = await heldSession();
    const headers = { 'x-stainless-retry-count': '1' };
    const first = ask(body);
    await isWaiting();
    const joined = ask(body, { headers });
    await new Promise(setImmediate);
    await goOn();
    expect((await joined).id).toBe((await first).id);

    const gone = new AbortController();
    const late = ask({ messages: [user('P')] }, { signal: gone.signal });
    await isWaiting();
    const outlives = ask({ messages: [user('P')] }, { headers });
    await new Promise(setImmediate);
    gone.abort(new Error('gone'));
    await goOn();
    await expect(late).rejects.toThrow('gone');
    await goOn();
    expect((await outlives).status).toBe(200);
    const { requests, accounted, undelivered } = await ended();
    expect(requests).toMatchObject({ turns: 2, replayed: 1, delivered: 2 });
    // Three were sampled, of 7 tokens each.
    expect([undelivered, accounted]).toEqual([7, 21]);
  });

  test('an equal request during the first one is a separate request', async () => {
    const { ask, ended, waiting, isWaiting } = await heldSession();
    const first = ask(body);
    await isWaiting();
    const second = ask(body);
    await isWaiting(2);
    for (const go of waiting) go();
    expect((await first).id).not.toBe((await second).id);
    const { sequences, requests } = await ended();
    expect(sequences).toHaveLength(2);
    expect(requests).toMatchObject({ turns: 2, replayed: 0 });
  });

  test('an answer whose client left early is not trained, but is recorded for a retry', async () => {
    const { session, ask, ended, reader } = await leftSession();
    await expect(reader.read().then(() => reader.read())).rejects.toThrow('gone');
    const lost = session.tree.nodes[0]!;
    expect(lost.delivered).toBe(false);
    const again = await ask({ ...body, stream: false });
    expect(again.choices[0]?.message.content).toBe('answer 2');
    const { sequences, undelivered } = await ended();
    expect(sequences).toHaveLength(1);
    expect(undelivered).toBe(lost.end - lost.start);
  });

  test('a retry of a stream that was never read to its end gets the recorded answer', async () => {
    const { fetch, ended, reader } = await leftSession();
    await reader.cancel().catch(() => undefined);
    const text = await (await fetch(path, post({ ...body, stream: true }))).text();
    expect(text).toContain('"answer 1"');
    expect(text).toContain('data: [DONE]');
    const { requests, undelivered } = await ended();
    expect(requests).toMatchObject({ turns: 1, replayed: 1, delivered: 1 });
    expect(undelivered).toBe(0);
  });

  test('a stream is recorded before its last event (trap 2)', async () => {
    const { fetch, session, ended } = await openedSession(counting());
    const stream = await fetch(path, post({ ...body, stream: true }));
    const reader = stream.body!.getReader();
    let text = '';
    while (!text.includes('"finish_reason":"stop"'))
      text += new TextDecoder().decode((await reader.read()).value);
    expect(session.tree.nodes).toHaveLength(1);
    const { sequences, undelivered } = await ended();
    expect([sequences.length, undelivered]).toEqual([1, 0]);
  });

  test('tokens sampled before a client left are counted, and its request number is free again', async () => {
    const { ask, ended, requests, isWaiting, goOn } = await heldSession();
    const gone = new AbortController();
    const first = ask(body, { signal: gone.signal });
    await isWaiting();
    gone.abort(new Error('gone'));
    await goOn();
    await expect(first).rejects.toThrow('gone');
    const second = ask(body);
    await goOn();
    await second;
    expect(requests[1]?.key).toEqual(requests[0]?.key);
    const { undelivered, accounted, requests: facts } = await ended();
    expect(facts).toMatchObject({ turns: 1, delivered: 1 });
    expect([undelivered, accounted]).toEqual([7, 14]);
  });
});

describe('Sampling (8)', () => {
  test("the run's sampling applies, and the client's settings are counted", async () => {
    const { ask, ended, requests } = await openedSession(counting());
    const asked = { temperature: 0, top_p: 0.5, seed: 7, logit_bias: { 5: 1 } };
    await ask({ ...body, ...asked });
    await ask({ ...body, temperature: 1 });
    expect(requests[0]?.sampling).toEqual({ temperature: 1, topP: 1, topK: 0, minP: 0 });
    const { requests: facts } = await ended();
    expect(facts.ignored).toEqual({ temperature: 2, top_p: 1, seed: 1, logit_bias: 1 });
  });

  test('n answers are siblings: they share one prompt, and each is trained', async () => {
    const { ask, ended } = await openedSession(counting());
    const both = await ask({ ...body, n: 2 });
    expect(both.choices.map(({ message }) => message.content)).toEqual(['answer 1', 'answer 2']);
    await ask({ messages: [user('Q'), said(both, 1), user('more')] });
    const { shown, requests, undelivered } = await ended();
    for (const [at, text] of shown.entries())
      expect(text.split('«')[1]).toMatch(`t</think>answer ${at + 1}<`);
    expect(requests).toMatchObject({ turns: 3, delivered: 3 });
    expect(undelivered).toBe(0);
  });

  test('a stop text ends a turn: tokens sampled after it are counted and not trained', async () => {
    const { ask, ended, text } = await openedSession(
      answering({ '\nQ<': 'x</think>a1STOP b c d e f g h', more: 'y</think>two' }),
    );
    const first = await ask({ ...body, stop: ['STOP'] });
    expect(first.choices[0]).toMatchObject({ message: { content: 'a1' }, finish_reason: 'stop' });
    await ask({ messages: [user('Q'), said(first), user('more')] });
    const { shown, undelivered, accounted } = await ended();
    const trained = /«x<\/think>a1»<\|im_end\|>\n<\|im_start\|>user\nmore/;
    expect(shown).toEqual([expect.stringMatching(trained)]);
    // Turns with stop texts are sampled in steps of 8 tokens.
    const sampled = Math.ceil(text.encodeText('x</think>a1STOP').length / 8) * 8;
    expect(undelivered).toBe(sampled - text.encodeText('x</think>a1').length);
    expect(accounted).toBe(sampled + text.encodeText('y</think>two<|im_end|>').length);
  });
});

describe('Limits and ends (9)', () => {
  test('a conversation without room gets a 400 with context_length_exceeded', async () => {
    const { ask, ended } = await openedSession(counting());
    const answer = await ask({ messages: [user('word '.repeat(3000))] });
    const endless = await ask({ messages: [user('word '.repeat(300_000))] });
    const refused = { status: 400, error: { code: 'context_length_exceeded' } };
    expect([answer, endless]).toMatchObject([refused, refused]);
    expect((await ended()).refused).toBe('token-limit');
  });

  test('a path has at most as many turns as the run allows', async () => {
    const { ask, ended } = await openedSession(counting(), { maxTurns: 2 });
    const messages: ChatMessage[] = [user('Q')];
    const statuses: unknown[] = [];
    for (let at = 0; at < 3; at++) {
      const answer = await ask({ messages });
      statuses.push(answer.error?.code ?? answer.status);
      if (answer.status === 200) messages.push(said(answer), user('more'));
    }
    expect(statuses).toEqual([200, 200, 'turn_limit']);
    // Another conversation has its own.
    expect((await ask({ messages: [user('other')] })).status).toBe(200);
    expect((await ended()).refused).toBe('turn-limit');
  });

  test('an agent that sends requests endlessly is refused after 64 times the turns of a path', async () => {
    const { ask, session } = await openedSession(counting(), { maxTurns: 2 });
    for (let turn = 0; turn < 128; turn++) await ask(body);
    expect(await ask(body)).toMatchObject({ status: 400, error: { code: 'turn_limit' } });
    expect(session.refused).toBe('turn-limit');
  });

  test('a request in progress at the end gets a 400 and a later one a 401, so that clients do not retry', async () => {
    const { ask, session, ended, isWaiting, goOn } = await heldSession();
    const under = ask(body);
    await isWaiting();
    const end = ended();
    await goOn();
    expect(await under).toMatchObject({ status: 400, error: { code: 'rollout_over' } });
    expect(await ask(body)).toMatchObject({ status: 401, error: { code: 'rollout_over' } });
    const { sequences, undelivered } = await end;
    expect([sequences.length, undelivered]).toEqual([0, 7]);
    expect(session.tree.nodes).toEqual([]);
  });
});

test('any model name is accepted, and formats and forced tools are counted (11, 12)', async () => {
  const { ask, ended } = await openedSession(counting());
  const answer = await ask({
    ...body,
    model: 'gpt-4o-mini',
    tools,
    tool_choice: 'required',
    response_format: { type: 'json_object' },
  });
  expect(answer).toMatchObject({ status: 200, model: 'gpt-4o-mini' });
  expect((await ended()).requests.ignored).toEqual({ tool_choice: 1, response_format: 1 });
});

test('the messages of a rollout come from its last request, whatever the agent returns', async () => {
  const { ask, session } = await openedSession(counting());
  for (const name of ['Ferzuri', 'Mirneda', 'Walrami']) await ask({ messages: [user(name)] });
  await session.end();
  for (const answer of [undefined, 'a/b/c', { first: 'a' }])
    expect(sessionRecord(session, answer).messages[0]).toMatchObject({ content: 'Walrami' });
});
