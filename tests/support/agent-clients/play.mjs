// node play.mjs URL MODEL QUESTIONS.json OUT.json: agents made with seven clients of the OpenAI API play each question, plain and
// streamed, against a server. Runs in a folder that has the packages; needs Node 22.
import { createServer } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { tool as langTool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { Agent as MastraAgent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool as agentTool } from '@openai/agents';
import { generateText, stepCountIs, streamText, tool as aiTool } from 'ai';
import OpenAI from 'openai';
import { zodFunction } from 'openai/helpers/zod';
import { z } from 'zod';

const [, , upstream, model, questionFile, outFile] = process.argv;
const { questions, documents } = JSON.parse(readFileSync(questionFile, 'utf8'));
setTracingDisabled(true);
const apiKey = 'a-key-that-nobody-asks-for';
const mostTurns = 6;

const words = (text) => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
const search = async ({ query }) => {
  const asked = new Set(words(query));
  const score = (one) => words(`${one.title} ${one.text}`).filter((word) => asked.has(word)).length;
  const found = documents.map((one) => [score(one), one]).sort((a, b) => b[0] - a[0]);
  return found.slice(0, 2).map(([, one], place) => `[${place + 1}] ${one.title}: ${one.text}`).join('\n');
};
const codeExec = async () => 'Error: nothing was printed.';
const tools = [
  { name: 'search', description: 'Finds documents.', schema: z.object({ query: z.string() }), execute: search },
  { name: 'code_exec', description: 'Runs Python.', schema: z.object({ code: z.string() }), execute: codeExec },
];

const aiSdk = (modelOf) => async ({ baseURL, question, stream }) => {
  const given = Object.fromEntries(
    tools.map(({ name, description, schema, execute }) => [name, aiTool({ description, inputSchema: schema, execute })]),
  );
  const args = { model: modelOf(baseURL), prompt: question, tools: given, stopWhen: stepCountIs(mostTurns), maxRetries: 0 };
  if (!stream) return (await generateText(args)).text;
  const errors = [];
  const parts = [];
  const result = streamText({ ...args, onError: ({ error }) => errors.push(error) });
  for await (const part of result.fullStream) parts.push(part.type);
  if (errors.length > 0) throw errors[0];
  return await result.text;
};

const clients = {
  'AI SDK compatible': aiSdk((baseURL) => createOpenAICompatible({ name: 'mine', baseURL, apiKey, includeUsage: true })(model)),
  'AI SDK chat': aiSdk((baseURL) => createOpenAI({ baseURL, apiKey }).chat(model)),
  'openai loop': async ({ baseURL, question, stream }) => {
    const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
    const given = tools.map(({ name, description, schema }) => zodFunction({ name, description, parameters: schema }));
    const messages = [{ role: 'user', content: question }];
    for (let turn = 0; turn < mostTurns; turn++) {
      const asked = { model, messages, tools: given };
      const answer = stream
        ? await client.chat.completions.stream(asked).finalChatCompletion()
        : await client.chat.completions.create(asked);
      const { message } = answer.choices[0];
      messages.push(message);
      if (!message.tool_calls?.length) return message.content;
      for (const { id, function: called } of message.tool_calls) {
        const { execute } = tools.find(({ name }) => name === called.name) ?? { execute: async () => 'No such tool.' };
        messages.push({ role: 'tool', tool_call_id: id, content: await execute(JSON.parse(called.arguments)) });
      }
    }
    throw new RangeError('Max turns');
  },
  'openai runTools': async ({ baseURL, question, stream }) => {
    const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
    const given = tools.map(({ name, description, schema, execute }) => zodFunction({ name, description, parameters: schema, function: execute }));
    const runner = client.chat.completions.runTools({ model, messages: [{ role: 'user', content: question }], tools: given, stream }, { maxChatCompletions: mostTurns });
    return await runner.finalContent();
  },
  '@openai/agents': async ({ baseURL, question, stream }) => {
    const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
    const given = tools.map(({ name, description, schema, execute }) => agentTool({ name, description, parameters: schema, execute }));
    const agent = new Agent({ name: 'Helper', tools: given, model: new OpenAIChatCompletionsModel(client, model) });
    const result = await run(agent, question, { stream, maxTurns: mostTurns });
    if (stream) await result.completed;
    return result.finalOutput;
  },
  LangGraph: async ({ baseURL, question, stream }) => {
    const llm = new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 0 });
    const given = tools.map(({ name, description, schema, execute }) => langTool(execute, { name, description, schema }));
    const agent = createReactAgent({ llm, tools: given });
    const asked = { messages: [{ role: 'user', content: question }] };
    const recursionLimit = 2 * mostTurns;
    if (!stream) return (await agent.invoke(asked, { recursionLimit })).messages.at(-1).content;
    let last;
    for await (const [mode, value] of await agent.stream(asked, { streamMode: ['messages', 'values'], recursionLimit })) {
      if (mode === 'values') last = value;
    }
    return last.messages.at(-1).content;
  },
  Mastra: async ({ baseURL, question, stream }) => {
    const given = Object.fromEntries(
      tools.map(({ name, description, schema, execute }) => [name, createTool({ id: name, description, inputSchema: schema, execute })]),
    );
    const agent = new MastraAgent({ id: 'helper', name: 'Helper', instructions: '', model: createOpenAICompatible({ name: 'mine', baseURL, apiKey })(model), tools: given });
    const options = { maxSteps: mostTurns };
    if (!stream) return (await agent.generate(question, options)).text;
    const result = await agent.stream(question, options);
    let text = '';
    for await (const piece of result.textStream) text += piece;
    if (result.error) throw result.error;
    return text;
  },
};

/** Exchanges of an episode, by its name. */
const exchanges = new Map();
const relay = createServer(async (request, response) => {
  const [, episode, path] = /^\/(\d+)(\/.*)$/.exec(request.url) ?? [];
  let text = '';
  for await (const piece of request) text += piece;
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(upstream + path, { method: request.method, headers, body: text });
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') });
  const body = await answer.text();
  exchanges.get(episode).push({ asked: JSON.parse(text), status: answer.status, answer: body });
  response.end(body);
});
await new Promise((resolve) => relay.listen(0, '127.0.0.1', resolve));
const { port } = relay.address();

/** What a client's requests show to be wrong: an answer that is no success, calls that are run by nobody, a history that does not grow. */
function faultsOf(made) {
  const faults = [];
  let before = 0;
  const ids = new Set();
  for (const { asked, status, answer } of made) {
    if (status !== 200) faults.push(`${status} ${answer}`);
    if (/"error":\s*\{/.test(answer)) faults.push(`an error in a stream: ${answer.slice(-300)}`);
    const { messages } = asked;
    if (messages.length <= before) faults.push(`a history that does not grow: ${JSON.stringify(messages).slice(-300)}`);
    before = messages.length;
    const answered = messages.flatMap(({ tool_call_id: id }) => id ?? []);
    const called = messages.flatMap(({ tool_calls: calls = [] }) => (calls ?? []).map(({ id }) => id));
    for (const id of called) if (!answered.includes(id)) faults.push(`a call without a result: ${id}`);
    if (new Set(called).size !== called.length) faults.push(`an id of two calls: ${called}`);
    for (const id of called) ids.add(id);
  }
  return faults;
}

const rows = [];
let count = 0;
for (const [client, play] of Object.entries(clients))
  for (const stream of [false, true]) {
    const row = { client, stream, episodes: 0, answered: 0, requests: 0, looped: 0, outOfContext: 0, failures: [], answers: [] };
    for (const question of questions) {
      const episode = String(++count);
      exchanges.set(episode, []);
      row.episodes += 1;
      let thrown;
      try {
        const text = await play({ baseURL: `http://127.0.0.1:${port}/${episode}/v1`, question, stream });
        row.answers.push(text);
        row.answered += 1;
      } catch (error) {
        thrown = `${error?.name}: ${error?.message}`;
      }
      const made = exchanges.get(episode);
      row.requests += made.length;
      const long = ({ status, answer }) => status === 400 && answer.includes('context_length_exceeded');
      const faults = faultsOf(made.filter((one) => !long(one)));
      if (made.some(long)) row.outOfContext += 1;
      // The model calls tools without end: the client ends that, as it should.
      else if (thrown !== undefined && made.length >= mostTurns && faults.length === 0) row.looped += 1;
      else if (thrown !== undefined) faults.push(thrown);
      if (faults.length > 0) row.failures.push({ question, faults });
    }
    rows.push(row);
    process.stderr.write(`${JSON.stringify({ ...row, answers: row.answers.slice(0, 3) })}\n`);
  }
writeFileSync(outFile, JSON.stringify(rows, null, 1));
process.exit(0);
