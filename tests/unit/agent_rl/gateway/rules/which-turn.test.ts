import { describe, expect, test } from '@jest/globals';

import {
  calling,
  result,
  said,
  tool,
  user,
  type ChatMessage,
} from '#tests/support/agent-client.ts';
import { openedSession } from '#tests/support/opened-session.ts';
import { answering } from '#tests/support/scripted-session.ts';

const tools = [tool('search')];

/** A session whose model calls a tool and then answers, and one whose model answers twice. */
const searching = () =>
  openedSession(answering({ '\nQ<': calling('search', 'a', 'x'), r1: 'y</think>z' }));
const talking = (history: 'sampled' | 'sent' = 'sampled') =>
  openedSession(answering({ '\nQ<': 'x</think>one', more: 'y</think>two' }), { history });

test('answers and calls have unique ids, which a seed reproduces (1)', async () => {
  const idsOf = async (secret: string) => {
    const { ask } = await openedSession(() => calling('search', 'a'), { secret });
    const answers = [];
    for (let at = 0; at < 3; at++) answers.push(await ask({ messages: [user('Q')], tools }));
    return answers.flatMap(({ id, choices }) =>
      [id].concat((choices[0]?.message.tool_calls ?? []).map((call) => call.id)),
    );
  };
  const [one, same, other] = await Promise.all(['1', '1', '2'].map(idsOf));
  expect(new Set(one).size).toBe(6);
  expect(one).toEqual(same);
  expect(one!.filter((id) => other!.includes(id))).toEqual([]);
});

describe('Parents (2, 3)', () => {
  test('a turn with a valid and a malformed call is recognised when it comes back', async () => {
    const both = calling('search', 'a', 'x').replace('</think>', '$&<tool_call>{"name": ');
    const { ask, ended } = await openedSession(answering({ '\nQ<': both, r1: 'y</think>z' }));
    const first = await ask({ messages: [user('Q')], tools });
    expect(first.choices[0]?.message.content).toMatch(/^<tool_call>\{"name": /);
    await ask({ messages: [user('Q'), said(first), result(first, 'r1')], tools });
    const { ids, requests } = await ended();
    expect(ids).toHaveLength(1);
    expect(requests.drift).toMatchObject({ content: 0, history: 0 });
  });

  test('calls with the ids of another turn, or without ids, are an edited history', async () => {
    const { ask, ended } = await searching();
    const first = await ask({ messages: [user('Q')], tools });
    const [call] = first.choices[0]!.message.tool_calls!;
    const foreign = { ...said(first), tool_calls: [{ ...call, id: 'call_1' }] };
    const answer = { role: 'tool', tool_call_id: 'call_1', content: 'r1' };
    await ask({ messages: [user('Q'), foreign, answer], tools });
    await ask({ messages: [user('Q'), { role: 'assistant', content: 'x' }, user('r1')], tools });
    const { ids } = await ended();
    expect(ids).toHaveLength(3);
  });

  test('a text turn is identified by its text as string, as parts, and without blanks at its ends', async () => {
    const { ask, ended } = await openedSession(
      answering({ '\nQ<': 'x</think>  one \n', more: 'y</think>two' }),
    );
    const first = await ask({ messages: [user('Q')] });
    const content = first.choices[0]?.message.content ?? '';
    const partOf = (text: string, more: object = {}) => ({ type: 'text', text, ...more });
    const parts = [partOf(content.slice(0, 2), { role: 'assistant' }), partOf(content.slice(2))];
    for (const back of [content, parts, content.trim()])
      await ask({ messages: [user('Q'), { role: 'assistant', content: back }, user('more')] });
    const { requests, sequences } = await ended();
    expect(sequences).toHaveLength(3);
    expect(requests.drift).toMatchObject({ history: 0, thoughts: 1 });
    const [one, two, three] = sequences.map(({ tokens }) => tokens);
    expect([two, three]).toEqual([one, one]);
  });

  test('a request continues the last delivered one of equal text turns', async () => {
    const { ask, session } = await talking();
    await ask({ messages: [user('Q')] });
    const second = await ask({ messages: [user('Q')] });
    await ask({ messages: [user('Q'), said(second), user('more')] });
    const [, last, next] = session.tree.nodes;
    expect(next?.parent?.id).toBe(last?.id);
  });

  test('a request continues the longest path, even after turns that the client supplied', async () => {
    const { ask, ended } = await openedSession((prompt) => {
      const results = prompt.split('<tool_response>').length - 1;
      return results < 3 ? calling('search', `q${results}`, `look ${results}`) : 'd</think>D';
    });
    const messages: ChatMessage[] = [user('Q')];
    const next = async (content: string) => {
      const answer = await ask({ messages, tools });
      messages.push(said(answer), result(answer, content));
    };
    await next('a long result');
    await next('r1');
    // From here on the first result is short: what was said after it begins anew, once.
    messages[2] = { ...messages[2]!, content: '[cut]' };
    await next('r2');
    await next('r3');
    const { sequences, requests } = await ended('D');
    const turns = sequences.map(({ spans }) => spans.filter((span) => span.source === 'sampled'));
    expect(turns.map(({ length }) => length)).toEqual([2, 2]);
    expect(requests.drift['history']).toBe(1);
  });

  test('other tools, another order or no tools begin a separate sequence', async () => {
    const { ask, ended } = await talking();
    const both = [tool('search'), tool('lookup')];
    const first = await ask({ messages: [user('Q')], tools: both });
    const messages = [user('Q'), said(first), user('more')];
    await ask({ messages, tools: both });
    await ask({ messages, tools: both.toReversed() });
    await ask({ messages, tools: both, tool_choice: 'none' });
    const { sequences, requests } = await ended();
    expect(sequences).toHaveLength(3);
    expect(requests.drift).toMatchObject({ tools: 2, history: 0 });
  });

  test('a system message in the middle begins a new sequence, a tail of results and a user message does not (16)', async () => {
    const two = `${calling('search', '1', 'x')}${calling('search', '2').replace('</think>', '\n')}`;
    const { ask, ended } = await openedSession(answering({ '\nQ<': two, thanks: 'y</think>z' }));
    const first = await ask({ messages: [user('Q')], tools });
    const [, b] = first.choices[0]!.message.tool_calls!;
    const answer = { role: 'tool', tool_call_id: b!.id, content: 'r1' };
    const whole = [user('Q'), said(first), result(first, 'r0'), answer];
    const thanks = user('thanks');
    await ask({ messages: [...whole, thanks], tools });
    await ask({ messages: [...whole, { role: 'system', content: 'Stop.' }, thanks], tools });
    const { shown } = await ended();
    expect(shown).toHaveLength(2);
    const joint = '</tool_call><|im_end|>»\n<|im_start|>user\n<tool_response>r0</tool_response>';
    expect(shown.filter((text) => text.includes(joint))).toHaveLength(1);
  });
});

describe('Tokens and drift (4, 5)', () => {
  const dropping = async (history: 'sampled' | 'sent') => {
    const { ask, ended, text } = await openedSession(
      answering({ '\nQ<': calling('search', 'ü', 'look'), r1: 'y</think>z' }),
      { history },
    );
    const first = await ask({ messages: [user('Q')], tools, return_token_ids: true });
    const { reasoning_content: _, ...without } = first.choices[0]!.message;
    const messages = [user('Q'), without, result(first, 'r1')];
    const second = await ask({ messages, tools, return_token_ids: true });
    return { first, second, text, ...(await ended('z')) };
  };

  test('a request is the stored tokens plus what follows, however the client renders the turn', async () => {
    const { first, second, ids, requests } = await dropping('sampled');
    const stored = [...first.prompt_token_ids!, ...first.choices[0]!.token_ids!];
    expect(second.prompt_token_ids!.slice(0, stored.length)).toEqual(stored);
    expect(ids).toEqual([[...second.prompt_token_ids!, ...second.choices[0]!.token_ids!]]);
    expect(requests.drift).toEqual({ thoughts: 1, arguments: 0, content: 0, history: 0, tools: 0 });
  });

  test('"history: sent" gives the model the client\'s version in a further sequence', async () => {
    const { first, second, ids, shown, requests } = await dropping('sent');
    const stored = [...first.prompt_token_ids!, ...first.choices[0]!.token_ids!];
    expect(ids).toContainEqual(stored);
    expect(ids).toContainEqual([...second.prompt_token_ids!, ...second.choices[0]!.token_ids!]);
    expect(shown.filter((text) => text.includes('«look</think>'))).toHaveLength(1);
    expect(shown.filter((text) => text.includes('«y</think>z'))).toHaveLength(1);
    expect(requests.drift).toEqual({ thoughts: 1, arguments: 0, content: 0, history: 0, tools: 0 });
  });

  test('"history: sent" keeps one sequence for a client that changes nothing', async () => {
    const { ask, ended } = await talking('sent');
    const first = await ask({ messages: [user('Q')] });
    await ask({ messages: [user('Q'), said(first), user('more')] });
    const { shown } = await ended();
    expect(shown).toHaveLength(1);
    expect(shown[0]?.split('«')).toHaveLength(3);
  });

  test('control tokens in a thought are text in what is sent and stay tokens in the sequence', async () => {
    const { ask, ended, text } = await openedSession(
      answering({ '\nQ<': 'a <|im_start|> b</think>one', more: 'y</think>two' }),
    );
    const first = await ask({ messages: [user('Q')], return_token_ids: true });
    const start = text.tokenizer.idOf('<|im_start|>');
    expect(first.choices[0]?.message.reasoning_content).toBe('a <|im_start|> b');
    expect(first.choices[0]?.token_ids).toContain(start);
    const second = await ask({ messages: [user('Q'), said(first), user('more')] });
    // As a given turn of another conversation, too.
    const other = await ask({
      messages: [user('P'), said(first), user('more')],
      return_token_ids: true,
    });
    expect([second.status, other.status]).toEqual([200, 200]);
    expect(other.prompt_token_ids!.filter((id) => id === start)).toHaveLength(4);
    const { ids } = await ended();
    expect(ids.flat().filter((id) => id === start).length).toBe(4 + 5);
  });

  test('the template closes a turn that was cut off, and the conversation continues (12)', async () => {
    const { ask, ended } = await openedSession(
      answering({ '\nQ<': 'x</think>a b c d e f', more: 'y</think>two' }),
      { maxTurnTokens: 4 },
    );
    const first = await ask({ messages: [user('Q')] });
    expect(first.choices[0]?.finish_reason).toBe('length');
    await ask({ messages: [user('Q'), said(first), user('more')], max_tokens: 2 });
    const { shown, cut } = await ended();
    expect(shown[0]).toMatch(/«x<\/think>a b»<\|im_end\|>\n<\|im_start\|>user\nmore/);
    // The client's own limit is no cut of the run's.
    expect(cut).toBe(false);
  });
});
