import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { openAgent } from '../../agent_rl/compose/open-agent.ts';
import { prepareRun } from '../../agent_rl/compose/prepare-run.ts';
import { resolveRun } from '../../agent_rl/compose/resolve-run.ts';
import { packageRoot } from '../../agent_rl/core/package-root.ts';
import type { AgentContext } from '../../agent_rl/core/plugins/agent.ts';
import { defineTool } from '../../agent_rl/core/plugins/define-tool.ts';
import { drawnTokens } from '../../agent_rl/core/rollout.ts';
import { unbiased } from '../../agent_rl/core/services/generator.ts';
import { agent } from '../../agent_rl/environments/external/agent.ts';
import { agentInCode, type AgentParts } from '../../agent_rl/jobs/code/agent-in-code.ts';
import { planGroups } from '../../agent_rl/rollout/rollout-worker.ts';
import { machineText, note, spread, watchMachine } from './bench-run.ts';

/*
 * What an agent with a loop of its own costs: the same questions, tool and model played by the rollout itself, by an agent
 * that asks by `fetch`, and by one that asks over HTTP, 64 at once, in turn: `npm run bench:gateway`. Rates are in sampled
 * tokens a second, since draws have other keys; ratios are of one round.
 */

const [rounds, tasksAtOnce, groupSize, workers] = [5, 24, 8, 64];
const root = packageRoot();
const signal = new AbortController().signal;

interface Document {
  title: string;
  text: string;
}
const documents = readFileSync(join(root, 'dataset/search_corpus/documents.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Document);

/** Finds the document that a query names, at no cost worth mentioning. */
function find(query: unknown): string {
  const words = String(query).toLowerCase().split(/\W+/);
  const found = documents.find(({ title }) => words.includes(title.toLowerCase()));
  return found === undefined ? 'No results.' : `[1] ${found.title}\n${found.text}`;
}

const tool = {
  name: 'search',
  description: 'Finds documents.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};
const search = defineTool({
  ...tool,
  inputSchema: tool.parameters,
  execute: (input) => find((input as { query: unknown }).query),
});

interface ChatMessage {
  role: string;
  content: string | null;
  tool_calls?: { id: string; function: { arguments: string } }[];
  tool_call_id?: string;
}

type Asking = (context: AgentContext) => [typeof fetch, string];

/** A loop as people write it. */
const loop = (asking: Asking) => async (context: AgentContext) => {
  const [send, base] = asking(context);
  const messages: ChatMessage[] = [{ role: 'user', content: context.task.prompt }];
  for (let turn = 0; turn < 4; turn++) {
    const tools = [{ type: 'function', function: tool }];
    const response = await send(`${base}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${context.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'policy', messages, tools }),
      signal: context.signal,
    });
    const answer = (await response.json()) as { choices?: { message: ChatMessage }[] };
    const message = answer.choices?.[0]?.message;
    if (message === undefined) throw new Error(JSON.stringify(answer));
    if (message.tool_calls === undefined) return message.content;
    messages.push(message);
    for (const { id, function: called } of message.tool_calls) {
      const { query } = JSON.parse(called.arguments) as { query?: unknown };
      messages.push({ role: 'tool', tool_call_id: id, content: find(query) });
    }
  }
  return '';
};

const external = (name: string, asking: Asking) => ({
  environment: agent({ name, description: 'Measured.' })(loop(asking)),
});

const ways: Readonly<Record<string, Partial<AgentParts>>> = {
  'in process': { tools: [search], environment: 'question' },
  fetch: external('by_fetch', (context) => [context.fetch, 'http://model/v1']),
  HTTP: external('by_http', ({ baseURL }) => [fetch, baseURL]),
};

async function opened(parts: Partial<AgentParts>) {
  const described = await agentInCode(
    {
      model: join(root, 'model/search-starter'),
      policy: { type: 'minimind', thinking: true, maxTurnTokens: 96, maxContextTokens: 448 },
      rollout: { maxTurns: 4, maxEpisodeTokens: 448, workers },
      run: { outputDir: '/tmp' },
      ...parts,
    },
    { caller: 'bench', dir: join(root, 'dataset/search_tasks') },
  );
  const prepared = await prepareRun(described, signal);
  const tasks = { evaluation: 'eval', train: 'train' };
  const asked = { tasks, signal, print: () => undefined, trains: false };
  const run = await resolveRun(prepared, asked);
  return { run, agent: await openAgent(run, { workers, trains: false, packs: false, signal }) };
}

type Opened = Awaited<ReturnType<typeof opened>>;
type Measured = Awaited<ReturnType<typeof measured>>;

async function measured({ agent: playing, run }: Opened, round: number) {
  const tasks = run.tasks.train.slice(round * tasksAtOnce, (round + 1) * tasksAtOnce);
  const key = { run: '', when: 'eval', iteration: 0, round: 0 } as const;
  const groups = { groupSize, step: 0, sampling: unbiased, seedPath: [round], key };
  const began = performance.now();
  const before = process.cpuUsage();
  const rollouts = await playing.rollouts.collect(planGroups(tasks, groups).flat(), { signal });
  const { user, system } = process.cpuUsage(before);
  const tokens = rollouts
    .flatMap(({ parts }) => parts)
    .reduce((sum, part) => sum + drawnTokens(part), 0);
  return {
    perSecond: (tokens / (performance.now() - began)) * 1000,
    perProcessorSecond: (tokens / (user + system)) * 1e6,
    failed: rollouts.filter(({ failure }) => failure !== undefined).length,
  };
}

const machine = watchMachine();
const all = new Map<string, Measured[]>();
const agents = new Map<string, Opened>();
for (const [name, parts] of Object.entries(ways)) agents.set(name, await opened(parts));
for (let round = 0; round <= rounds; round++) {
  for (const [name, one] of agents) {
    const numbers = await measured(one, round);
    // The first compiles.
    if (round > 0) all.set(name, [...(all.get(name) ?? []), numbers]);
    const rate = numbers.perSecond.toFixed(0);
    note(`${round}/${rounds} ${name}: ${rate} tokens/s, ${numbers.failed} failed`);
  }
}
const inProcess = all.get('in process') ?? [];
for (const [name, numbers] of all) {
  const rates = numbers.map(({ perSecond }) => perSecond);
  const ratio = (key: 'perSecond' | 'perProcessorSecond') =>
    spread(
      numbers.map((one, round) => one[key] / (inProcess[round]?.[key] ?? Number.NaN)),
      2,
    );
  process.stdout.write(
    `${name}: ${spread(rates, 0)} tokens/s; relative to in process ${ratio('perSecond')}, by processor seconds ${ratio('perProcessorSecond')}\n`,
  );
}
process.stdout.write(`${machineText(machine())}\n`);
for (const { agent: one } of agents.values()) await one.close();
