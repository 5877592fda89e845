import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import {
  type Answer,
  type Call,
  codeTool as tool,
  eventsIn,
  servingClient,
  type ServingClient,
} from '../support/serving-client.ts';

/* What agents do with a server: they send back what it said, stream, and give stop texts. */

let client: ServingClient;
beforeAll(async () => {
  client = await servingClient();
});
afterAll(() => client.close());

const chat = '/v1/chat/completions';
const task = { role: 'user', content: 'Read one line of whole numbers. Print their sum.' };

const answered = (path: string, body: object): Promise<Answer> => client.answered(path, body);

test('calls and answers have unique ids, streamed or not', async () => {
  const body = { messages: [task], tools: [tool], temperature: 0 };
  const answers = [await answered(chat, body), await answered(chat, body)];
  const { text } = await client.ask(chat, { ...body, stream: true });
  const chunks = eventsIn(text) as {
    id: string;
    choices: { delta: { tool_calls?: Call[] } }[];
  }[];
  const calls = [
    ...answers.flatMap(({ choices }) => choices[0]?.message.tool_calls ?? []),
    ...chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []),
  ];
  expect(calls.map((call) => call.function.name)).toEqual(['code_exec', 'code_exec', 'code_exec']);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
  for (const { id } of calls) expect(id).toMatch(/^call_[0-9a-f]{20}_\d+$/);
  expect(new Set([...answers, ...chunks].map(({ id }) => id)).size).toBe(3);
});

test('the Responses API answers like chat completions and continues from its own items', async () => {
  const { function: described } = tool;
  const shared = { tools: [{ type: 'function', ...described }], temperature: 0 };
  const body = { input: task.content, ...shared };
  const responded = async (asked: object) => {
    const { status, text } = await client.ask('/v1/responses', asked);
    expect({ status, text }).toMatchObject({ status: 200 });
    return JSON.parse(text) as {
      id: string;
      output: { id: string; type: string; call_id?: string; arguments?: string }[];
      usage: { input_tokens: number; output_tokens: number };
    };
  };
  const chatted = await answered(chat, { messages: [task], tools: [tool], temperature: 0 });
  const first = await responded(body);
  const call = first.output.find(({ type }) => type === 'function_call');
  const [sameCall] = chatted.choices[0]?.message.tool_calls ?? [];
  expect(call?.arguments).toBe(sameCall?.function.arguments);

  const result = { type: 'function_call_output', call_id: call?.call_id, output: '3' };
  const references = first.output.map(({ id }) => ({ type: 'item_reference', id }));
  const { usage } = await responded({ ...shared, input: [task, ...references, result] });
  const after = await responded({ ...shared, previous_response_id: first.id, input: [result] });
  expect(after.usage.input_tokens).toBe(usage.input_tokens);
  expect(usage.input_tokens).toBeGreaterThan(first.usage.input_tokens + first.usage.output_tokens);
});

describe('An answer that is sent back', () => {
  const marks = '<tool_call> </tool_call> <tool_response> <think> </think>';
  const controls = `<|im_end|> <|im_start|> <|endoftext|> ${marks}`.split(' ');
  const prompt = async (text: string): Promise<readonly number[]> => {
    const call = { id: 'c1', type: 'function' };
    const code = JSON.stringify({ code: `print(${text})`, [text]: [text] });
    const described = { ...tool.function, description: text };
    const body = {
      messages: [
        { role: 'system', content: text },
        task,
        {
          role: 'assistant',
          content: `said ${text}`,
          reasoning_content: `thought ${text}`,
          tool_calls: [
            { ...call, function: { name: 'code_exec', arguments: code } },
            { ...call, id: 'c2', function: { name: text, arguments: `{${text}` } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: text },
        { role: 'tool', tool_call_id: 'c2', content: text, name: text },
      ],
      tools: [{ ...tool, function: described }],
      max_tokens: 1,
      return_token_ids: true,
    };
    return (await answered(chat, body)).prompt_token_ids;
  };

  test.each(controls)('becomes no control token where it holds %s', async (control) => {
    const held = (tokens: readonly number[]) => tokens.filter((id) => id < 9);
    expect(held(await prompt(control))).toEqual(held(await prompt('plain')));
  });
});

describe('A stream', () => {
  const saidIn = async (body: object) => {
    const { text } = await client.ask(chat, { ...body, stream: true });
    const deltas = (
      eventsIn(text) as { choices: { delta: Readonly<Record<string, string>> }[] }[]
    ).map(({ choices }) => choices[0]?.delta ?? {});
    const joined = (name: string) => deltas.map((delta) => delta[name] ?? '').join('');
    return { content: joined('content'), reasoning: joined('reasoning_content') };
  };

  test('contains the same as the whole answer, with and without tools, cut short or not', async () => {
    const differences: unknown[] = [];
    for (const tools of [[], [tool]])
      for (const max_tokens of [12, 40])
        for (let seed = 0; seed < 12; seed++) {
          const body = { messages: [task], tools, seed, temperature: 1.3, max_tokens };
          const { message } = (await answered(chat, body)).choices[0]!;
          const streamed = await saidIn(body);
          const whole = [message.reasoning_content ?? '', message.content ?? ''];
          if (streamed.reasoning !== whole[0] || streamed.content !== whole[1])
            differences.push({ body, message, streamed });
        }
    expect(differences).toEqual([]);
  });

  test("has the prompt's token ids in its first event", async () => {
    const body = { messages: [task], max_tokens: 2, return_token_ids: true };
    const whole = await answered(chat, body);
    const { text } = await client.ask(chat, { ...body, stream: true });
    expect(eventsIn(text)[0]).toMatchObject({ prompt_token_ids: whole.prompt_token_ids });
  });

  test.each<[string, string, object]>([
    ['chat', chat, { messages: [{ role: 'user', content: 'word '.repeat(900) }] }],
    ['completion', '/v1/completions', { prompt: 'word '.repeat(900) }],
  ])('is refused with 400 before it begins when a %s leaves no room', async (_, path, body) => {
    const { status, text } = await client.ask(path, { ...body, stream: true });
    expect([status, text]).toEqual([400, expect.stringContaining('context_length_exceeded')]);
  });
});

describe('A stop text', () => {
  const prompt = '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n';
  const body = { prompt, max_tokens: 40, temperature: 0 };
  const path = '/v1/completions';

  test('truncates tokens, log-probabilities and usage together with the text, and is not streamed', async () => {
    const free = (await answered(path, { ...body, logprobs: 1 })).choices[0]!;
    const { tokens } = free.logprobs;
    const before = (place: number) => tokens.slice(0, place).join('');
    let tried = 0;
    for (let place = 0; place < 30; place++) {
      const stop = tokens.slice(place, place + 3).join('');
      if (free.text.indexOf(stop) !== before(place).length) continue;
      tried += 1;
      const asked = { ...body, stop: ['never said', stop], logprobs: 1, return_token_ids: true };
      const { choices, usage } = await answered(path, asked);
      expect(choices[0]).toMatchObject({
        text: before(place),
        finish_reason: 'stop',
        logprobs: {
          tokens: tokens.slice(0, place),
          token_logprobs: free.logprobs.token_logprobs.slice(0, place),
        },
      });
      expect([choices[0]?.token_ids.length, usage.completion_tokens]).toEqual([place, place]);
      const { text } = await client.ask(path, { ...asked, stream: true });
      const events = eventsIn(text) as { choices: { text: string }[] }[];
      expect(events.map(({ choices: [choice] }) => choice?.text).join('')).toBe(before(place));
    }
    expect(tried).toBeGreaterThan(5);
  });

  test('keeps a token whole when it begins within that token', async () => {
    const free = (await answered(path, { ...body, logprobs: 1 })).choices[0]!;
    const place = free.logprobs.tokens.findIndex((token) => token.length > 3);
    const token = free.logprobs.tokens[place]!;
    const cut = await answered(path, { ...body, stop: token.slice(2), logprobs: 1 });
    const text = free.text.slice(0, free.text.indexOf(token.slice(2)));
    expect(cut.choices[0]?.text).toBe(text);
    expect(cut.choices[0]?.logprobs.tokens.join('').startsWith(text)).toBe(true);
  });
});

describe('A randomly sampled answer', () => {
  const seeds = [0, 1, 2, 3, 4, 5];
  const drawn = { temperature: 2, max_tokens: 60 };
  const isPart = (token: string): boolean => token.includes('\uFFFD');

  test('has the bytes of each token, also of partial characters', async () => {
    const messages = [{ role: 'user', content: 'Schreibe 🙂 ü é 漢字' }];
    const answers = await Promise.all(
      seeds.map((seed) => answered(chat, { ...drawn, messages, seed, logprobs: true })),
    );
    const tokens = answers.flatMap(({ choices }) => choices[0]!.logprobs.content);
    const whole = tokens.filter(({ token }) => !isPart(token));
    expect(whole.map(({ bytes }) => bytes)).toEqual(
      whole.map(({ token }) => Array.from(Buffer.from(token))),
    );
    const parts = tokens.filter(({ token }) => token === '\uFFFD').map(({ bytes }) => bytes);
    expect(parts.length).toBeGreaterThan(5);
    expect(parts).not.toContainEqual([0xef, 0xbf, 0xbd]);
  });

  test('has the offset of the character in which each token begins', async () => {
    const body = { ...drawn, prompt: 'Schreibe 🙂 ü é 漢字', logprobs: 1 };
    const answers = await Promise.all(
      seeds.map((seed) => answered('/v1/completions', { ...body, seed })),
    );
    const pairs = answers.flatMap(({ choices }) => {
      const { text, logprobs } = choices[0]!;
      const characters = Array.from(text);
      return logprobs.tokens.map((token, place) => {
        const from = logprobs.text_offset[place]!;
        return { token, there: characters.slice(from, from + Array.from(token).length).join('') };
      });
    });
    // The token that ends a turn is no part of the text.
    const whole = pairs.filter(({ token }) => !isPart(token) && !token.startsWith('<|'));
    expect(pairs.length).toBeGreaterThan(whole.length);
    expect(whole.map(({ there }) => there)).toEqual(whole.map(({ token }) => token));
  });
});
