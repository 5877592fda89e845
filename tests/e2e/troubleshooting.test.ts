import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { onlyAgent } from '#agent_rl/core/rollout.ts';
import { errorText } from '#agent_rl/cli/exit-code.ts';
import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import { noTasks } from '#agent_rl/compose/resolve-tasks.ts';
import type { ResolvedRun } from '#agent_rl/compose/resolve-run.ts';
import { withoutTooLong } from '#agent_rl/jobs/train/ready/too-long.ts';
import { choosePlugins } from '#agent_rl/compose/plugins/choose-plugins.ts';
import { RunWatch, warningText } from '#agent_rl/runs/signs/run-watch.ts';
import { modelFolder } from '#model/find/model-folder.ts';
import { loadConfig, type LoadedConfig, validateBlock } from '#agent_rl/config/index.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { ToolResult } from '#agent_rl/core/plugins/tool.ts';
import type { LossSpec } from '#agent_rl/core/services/learner.ts';
import { memorySettings } from '#agent_rl/engine-thread/engine-options.ts';
import { openEngine } from '#agent_rl/engine/open-engine.ts';
import { tf } from '#agent_rl/engine/ops.ts';
import { RolloutWorker } from '#agent_rl/rollout/rollout-worker.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { openSandbox } from '#agent_rl/sandbox/open-sandbox.ts';
import { openEmbedder } from '#agent_rl/search/corpus/index.ts';
import type { Metrics } from '#agent_rl/telemetry/index.ts';
import { openSearch } from '#agent_rl/tools/search/open-search.ts';
import { SearchTool } from '#agent_rl/tools/search/search-tool.ts';
import { SearchSettings } from '#agent_rl/tools/search/settings.ts';
import { FakeLearner } from '../support/fake-learner.ts';
import { failing, mixed, options } from '../support/grpo-trainer-setup.ts';
import { codeSpans, readDocument, tableBelow } from '../support/markdown.ts';
import { ScriptedEnvironment } from '../support/scripted-environment.ts';
import { says, ScriptedPolicy } from '../support/scripted-policy.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { json, webServer } from '../support/web-server.ts';
import { evidenceOf } from '../unit/agent_rl/runs/signs/evidence.ts';

const folder = temporaryFolder();
const server = webServer();
let files = 0;

const config = (text: string): LoadedConfig =>
  loadConfig({
    file: writeBelow(
      folder,
      `${files++}.yaml`,
      `environment: {type: code_exec}\ndatasets: [{dir: tasks}]\n${text}`,
    ),
  });

/** What the user is shown of a failure. */
const shown = async (action: () => unknown): Promise<string> => {
  try {
    await action();
  } catch (error) {
    return errorText(error);
  }
  throw new Error('It did not fail.');
};

/** One search by a tool of the run file. */
async function search(block: object): Promise<ToolResult> {
  const settings = validateBlock(SearchSettings, block, { path: 'tools.0', places: new Map() });
  const shared = await openSearch(settings, { environment: {} });
  try {
    const context = {
      signal: new AbortController().signal,
      inputs: {},
      idempotencyKey: 'call',
      random: new KeyedRng(1),
    };
    return await new SearchTool({ shared, settings }).call({ query: 'kettle' }, context);
  } finally {
    await shared.close();
  }
}

/** What a training says whose prompts leave no room to answer. */
function withoutRoom(): Promise<string> {
  const rollouts = new RolloutWorker(() => ({
    policy: new ScriptedPolicy(() => ({ message: says('I do not know.') }), 800),
    world: worldOfOne(new ScriptedEnvironment()),
    tools: new Map(),
    toolRunner: new ToolRunner([]),
    rewards: [],
    invalidCallPenalty: 0,
    limits: { ...options.rollout, invalidCallLimit: 3 },
  }));
  return failed({ rollouts });
}

const failed = async (parts: Parameters<typeof failing>[3]): Promise<string> =>
  errorText((await failing(mixed, {}, {}, parts)).error);

/** The warnings of a run whose iterations all differ from a healthy iteration in this way. */
async function warnings(change: Metrics): Promise<string> {
  const { settings, series } = evidenceOf();
  const metrics = { ...series.iterations[0]?.metrics, ...change };
  const watch = new RunWatch({ settings, tools: true, prompt: 'environment.systemPrompt' });
  return Array.from({ length: 20 }, (_, index) => watch.note(index + 1, metrics, []))
    .map((finding) => (finding === undefined ? '' : warningText(finding)))
    .join('\n');
}

const sandbox = { workers: 1, limits: { wallS: 5, memoryMiB: 256 } } as const;

/** What each row of the table is seen in, by the start of its second cell. */
const provocations: Readonly<Record<string, () => Promise<string>>> = {
  'PLUGIN_UNKNOWN: … unknown tool "code_exce"': () =>
    shown(() => choosePlugins(config('tools: [{type: code_exce}]'), builtinPlugins())),
  '… calls in … episodes named an unknown tool': () => warnings({ 'rollout/rejectedCalls': 300 }),
  'DATASET_INVALID: … prompts leave no room': () => {
    const task = { taskId: 'a', prompt: '', metadata: {} };
    const tasks = { ...noTasks, train: [task] };
    const run = { ...config('tools: [{type: code_exec}]'), tasks } as unknown as ResolvedRun;
    return shown(() => withoutTooLong(run, { tooLong: [{ task, tokens: 5000 }] }));
  },
  'SANDBOX_UNAVAILABLE: No sandbox of type native': () =>
    shown(() => openSandbox({ ...sandbox, type: 'native', python: '/nowhere/python3' })),
  'SANDBOX_UNAVAILABLE: No sandbox of type remote': () =>
    shown(() => openSandbox({ ...sandbox, type: 'remote', url: 'http://127.0.0.1:1' })),
  'CORPUS_INVALID:': () => shown(() => search({ mode: 'corpus', corpus: { path: 'no-index' } })),
  'CONFIG_INVALID: … takes its key': () =>
    shown(() => search({ mode: 'web', web: { provider: 'tavily', apiKeyEnv: 'TAVILY_API_KEY' } })),
  'WEB_REQUEST_DENIED:': () => {
    server.answer = json({}, 401);
    return shown(() =>
      search({ mode: 'web', web: { provider: 'custom', endpoint: server.origin } }),
    );
  },
  'CASSETTE_MISS:': () =>
    shown(() =>
      search({
        mode: 'web',
        web: {
          provider: 'custom',
          endpoint: server.origin,
          cassette: { mode: 'replay', path: writeBelow(folder, 'cassette.jsonl', '') },
        },
      }),
    ),
  'EMBEDDER_UNAVAILABLE:': () =>
    shown(() => openEmbedder({ type: 'transformers', model: join(folder, 'no-model') })),
  'ROLLOUTS_FAILED:': withoutRoom,
  'Only … % of episodes call a tool': () => warnings({ 'rollout/toolCallRate': 0 }),
  '… % of … episodes are cut off': () => warnings({ 'outcome/truncated-tokens': 80 }),
  'MODEL_INVALID:': () => shown(() => modelFolder(config('model: {path: nowhere/at-all}').config)),
  'DEVICE_UNAVAILABLE:': () => shown(() => openEngine({ device: 'tensorflow', threads: 1 })),
  '… calls in … episodes were malformed': () => warnings({ 'rollout/malformedCalls': 300 }),
  'ENGINE_FAILED:': () =>
    shown(async () => {
      const engine = await openEngine({
        device: 'cpu',
        threads: 1,
        memorySettings: memorySettings({
          training: { longestTokens: 16, loss: { name: 'policy' } as LossSpec },
        }),
      });
      const spec = { name: 'x', shape: [1, 1, 1], dtype: 'float32' } as const;
      // Four pebibytes: more than any address space holds, so that nothing is really taken.
      const program = await engine.compile([spec], ({ x }) => ({
        y: tf.sum(tf.broadcastTo(x!, [2 ** 20, 2 ** 20, 2 ** 10])),
      }));
      await program.run({ x: Float32Array.of(1) }).finally(() => engine.close());
    }),
  'Collection takes … % of the time': () =>
    warnings({ 'busy/collect': 0.95, 'seconds/tools': 100, 'seconds/generation': 5 }),
  '… % of … groups have equal rewards': () =>
    warnings({ 'group/zeroVariance': 10, 'group/allWrong': 10, 'group/allRight': 0 }),
  'PARITY_BROKEN:': () => {
    const learner = Object.assign(new FakeLearner(), { gap: 0.5 });
    return failed({ policies: new Map([[onlyAgent, { learner, weights: learner }]]) });
  },
};

const rows = tableBelow(readDocument('docs/troubleshooting.md'), '## Symptoms').map(
  ([, seen = '', remedy = '']) => ({ seen: codeSpans(seen)[0] ?? '', remedy }),
);

const pattern = (text: string): RegExp =>
  new RegExp(
    text
      .split('…')
      .map((part) => part.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[\\s\\S]*'),
  );

describe('The troubleshooting table', () => {
  test('has only rows that this test provokes', () => {
    const starts = Object.keys(provocations);
    expect(rows.map(({ seen }) => starts.filter((start) => seen.startsWith(start)).length)).toEqual(
      rows.map(() => 1),
    );
    expect(rows).toHaveLength(starts.length);
  });

  test.each(Object.entries(provocations))(
    'shows the actual message and its remedy: %s',
    async (start, provoke) => {
      const row = rows.find(({ seen }) => seen.startsWith(start));
      const text = await provoke();
      expect(text).toMatch(pattern(row?.seen ?? 'no such row'));
      const named = codeSpans(row?.remedy ?? '').filter((span) => span !== 'search');
      expect(named).not.toEqual([]);
      for (const remedy of named) expect(text).toContain(remedy);
    },
  );
});
