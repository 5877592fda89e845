import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import type { Container } from 'inversify';

import type { Config } from '../config/index.ts';
import type { Environment } from '../core/plugins/environment.ts';
import { AgentRlError } from '../core/errors.ts';
import { GENERATOR } from '../core/services/generator.ts';
import type { OwnGenerator, Policy } from '../core/plugins/policy.ts';
import type { RewardShared } from '../core/plugins/reward.ts';
import { SANDBOX, type Sandbox } from '../core/services/sandbox.ts';
import { TOOL_CALL_FORMAT } from '../core/plugins/tool-call-format.ts';
import type { Task } from '../core/tasks/task.ts';
import type { Tool, ToolShared, ToolSpec } from '../core/plugins/tool.ts';
import { AsyncRolloutWorker } from '../rollout/async-rollout-worker.ts';
import type { EpisodeMaker } from '../rollout/episode-parts.ts';
import { RolloutWorker, type Rollouts } from '../rollout/rollout-worker.ts';
import { ToolRunner } from '../rollout/tools/tool-runner.ts';
import { openSandbox, sandboxOf } from '../sandbox/open-sandbox.ts';
import type { OpenedSandbox } from '../sandbox/open-sandbox.ts';
import {
  LANGUAGE_MODEL,
  openLanguageModelFolder,
  type LanguageModel,
} from '../../model/text/language-model.ts';
import { readModelConfig } from '../../model/config/model-config.ts';
import { readJson } from '../../model/config/read-json.ts';
import { checkCacheFits } from '../engine-thread/memory-plan.ts';
import { choosePlugins, type Chosen, type ChosenPlugins } from './plugins/choose-plugins.ts';
import { construct, episodeContainer, rewardFunction, runContainer } from './plugins/container.ts';
import { EngineClient } from '../engine-thread/engine-client.ts';
import { engineOptions, rlTraining } from './engine-options.ts';
import { modelFolder, textFolder } from '../../model/find/model-folder.ts';
import { openToolCallFormat } from './plugins/open-tool-call-format.ts';
import { pluginHooks } from './plugins/plugin-loader.ts';
import { asksForFormat, isolatedSettings, needsSandbox } from './plugins/plugin-needs.ts';
import type { PreparedRun } from './prepare-run.ts';
import { requireAbilities } from './plugins/require-abilities.ts';
import { requireTrainable } from './plugins/require-trainable.ts';
import { startingWeights, type StartingWeights } from './model-request.ts';
import { reportsOf, type RunReports } from '../runs/run-reports.ts';
import { unlessStopped } from './unless-stopped.ts';

export interface AgentOptions extends Pick<PreparedRun, 'loaded' | 'plugins'> {
  /** Stops the opening. */
  signal?: AbortSignal;
  /** Folder with the weights, when not the config's. */
  model?: string | undefined;
  /** Most episodes at once, when not the config's. */
  workers?: number;
  /** Whether it will be trained by reinforcement learning; it is only played otherwise. */
  trains?: boolean;
  /** What is trained on or attempted: a reward may set its scale by it. Without tasks nothing is judged. */
  tasks?: readonly Task[];
}

/** Everything that plays episodes: engine, sandbox, policy, tools, environments, rewards. */
export interface Agent {
  chosen: ChosenPlugins;
  /** Absent when the policy brings a generator of its own. */
  engine?: EngineClient;
  languageModel: LanguageModel;
  policy: Policy;
  sandbox: OpenedSandbox | undefined;
  toolSpecs: readonly ToolSpec[];
  /** Folder the weights came from, of a model or of an adapter over one. */
  modelFolder: string;
  /** Folder the tokenizer came from. */
  textFolder: string;
  make: EpisodeMaker;
  rollouts: Rollouts;
  /** What tools and rewards report of the run so far, its earlier sessions included. */
  reports(earlier?: RunReports): RunReports;
  close(): Promise<void>;
}

/** An agent whose weights can be changed. */
export type TrainableAgent = Agent & Required<Pick<Agent, 'engine'>>;

/**
 * Opens an agent that is to be trained.
 *
 * @throws AgentRlError as `openAgent` does; `CONFIG_INVALID` for a policy that cannot be trained
 */
export async function openTrainableAgent(options: AgentOptions): Promise<TrainableAgent> {
  requireTrainable(options.loaded, options.plugins);
  // What was just required is that the engine generates.
  return (await openAgent(options)) as TrainableAgent;
}

/** Opens an agent. @throws AgentRlError of whatever is missing; nothing is left running then. */
export async function openAgent(options: AgentOptions): Promise<Agent> {
  const { loaded, plugins, signal = new AbortController().signal } = options;
  const { config } = loaded;
  const named = choosePlugins(loaded, plugins);
  const chosen = options.tasks === undefined ? { ...named, rewards: [] } : named;
  const isolated = isolatedSettings(chosen.tools);
  const folder = options.model ?? modelFolder(config);
  const workers = options.workers ?? config.rollout.workers;
  const text = await textFolder(folder);
  const languageModel = await openLanguageModelFolder(text);
  const opened: { close(): Promise<void> }[] = [];
  try {
    const format = asksForFormat(chosen)
      ? openToolCallFormat({ chosen, plugins, model: languageModel })
      : undefined;
    // First: what is wrong with a tool's settings shows before anything slow is started.
    const shared = await openTools(chosen, opened);
    const rewardsShared = await openRewards(chosen, options.tasks ?? [], opened);
    const sandbox = needsSandbox(chosen)
      ? await unlessStopped(openSandbox(sandboxOptions(config)), signal, (late) => late.close())
      : undefined;
    if (sandbox !== undefined) {
      opened.push(sandbox);
      requireAbilities(sandbox, { tasks: options.tasks ?? [], tools: chosen.tools });
    }
    const parts = { workers, trains: options.trains === true, signal };
    const generator =
      (await openOwnGenerator(config, chosen, { ...parts, folder })) ??
      (await openEngine(config, {
        ...parts,
        weights: await startingWeights(config, folder),
      }));
    opened.push(generator);
    const container = runContainer([
      [GENERATOR, generator],
      [LANGUAGE_MODEL, languageModel],
      ...(format === undefined ? [] : [[TOOL_CALL_FORMAT, format] as const]),
      ...(sandbox === undefined ? [] : [[SANDBOX, sandbox] as const]),
    ]);
    const policy = make(container, chosen.policy) as Policy;
    const toolSpecs = chosen.tools.map(({ entry }) => entry.spec);
    const toolRunner = new ToolRunner(toolSpecs, pluginHooks(), isolated);
    opened.push(toolRunner);
    const maker = episodeMaker({
      config,
      chosen,
      container,
      policy,
      toolRunner,
      sandbox,
      shared,
      rewardsShared,
    });
    return {
      chosen,
      ...(generator instanceof EngineClient && { engine: generator }),
      languageModel,
      policy,
      sandbox,
      toolSpecs,
      modelFolder: folder,
      textFolder: text,
      make: maker,
      rollouts: workers === 1 ? new RolloutWorker(maker) : new AsyncRolloutWorker(maker, workers),
      reports: (earlier) => ({
        tools: reportsOf(shared, earlier?.tools),
        rewards: reportsOf(rewardsShared, earlier?.rewards),
      }),
      close: () => closeAll(opened),
    };
  } catch (thrown) {
    // What kept the agent from opening matters more than what then fails to close.
    await closeAll(opened).catch(() => undefined);
    throw thrown;
  }
}

/** What the instances of each tool share, by the tool's name; each is added to `opened` at once. */
async function openTools(
  { tools }: ChosenPlugins,
  opened: { close(): Promise<void> }[],
): Promise<ReadonlyMap<string, ToolShared>> {
  const shared = new Map<string, ToolShared>();
  for (const { entry, settings } of tools) {
    const one = await entry.spec.open?.(settings, { environment: process.env });
    if (one === undefined) continue;
    opened.push(one);
    shared.set(entry.spec.name, one);
  }
  return shared;
}

/** What the instances of each reward share, by the reward's name; each is added to `opened` at once. */
async function openRewards(
  { rewards }: ChosenPlugins,
  tasks: readonly Task[],
  opened: { close(): Promise<void> }[],
): Promise<ReadonlyMap<string, RewardShared>> {
  const shared = new Map<string, RewardShared>();
  for (const { name, entry, settings } of rewards) {
    const one = await entry.spec.open?.(settings, { environment: process.env, tasks });
    if (one === undefined) continue;
    opened.push(one);
    shared.set(name, one);
  }
  return shared;
}

interface EngineParts {
  weights: StartingWeights;
  workers: number;
  trains: boolean;
  signal: AbortSignal;
}

/** The generator that the policy brings, if it does. */
async function openOwnGenerator(
  config: Config,
  { policy: { entry, settings } }: ChosenPlugins,
  { folder, workers, signal }: Omit<EngineParts, 'weights'> & { folder: string },
): Promise<OwnGenerator | undefined> {
  const open = entry.spec.openGenerator;
  if (open === undefined) return undefined;
  if (config.model.adapters.length > 0 || config.model.lora !== undefined) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `policy ${entry.spec.name} brings its own generator, which knows nothing of model.adapters and model.lora. Leave them out; agent-rl export --adapter writes a model with its adapters.`,
    );
  }
  const { maxContextTokens } = config.policy;
  const file = join(folder, 'config.json');
  const model = readModelConfig(await readJson(file, 'MODEL_INVALID'), file);
  checkCacheFits(model, { workers, maxContextTokens });
  const opening = open(settings, {
    modelFolder: folder,
    device: config.run.device,
    threads: config.run.engineThreads ?? availableParallelism(),
    maxContextTokens,
  });
  return unlessStopped(opening, signal, (late) => late.close());
}

/** The engine thread that a config asks for. @throws AgentRlError `INTERRUPTED` when it is stopped before it is open */
export const openEngine = (
  config: Config,
  { weights, workers, trains, signal }: EngineParts,
): Promise<EngineClient> =>
  unlessStopped(
    EngineClient.open(
      engineOptions(config, {
        ...weights,
        rows: workers,
        maxContextTokens: config.policy.maxContextTokens,
        ...(trains && rlTraining(config)),
      }),
    ),
    signal,
    (late) => late.close(),
  );

/** Closes all, the last opened first, whatever fails on the way. @throws the first failure */
const closeAll = async (opened: readonly { close(): Promise<void> }[]): Promise<void> => {
  const failures: unknown[] = [];
  for (const one of opened.toReversed()) {
    await one.close().catch((failure: unknown) => failures.push(failure));
  }
  if (failures.length > 0) throw failures[0];
};

/** Sandbox processes that a config asks for. */
export const sandboxWorkers = ({ sandbox }: Config): number =>
  sandbox.workers ?? availableParallelism();

/** Which sandbox a config gets on this machine, and why no stronger one: it is started to see, and stopped. */
export async function sandboxTier(
  config: Config,
  signal: AbortSignal,
): Promise<Pick<OpenedSandbox, 'tier' | 'skipped'>> {
  const opening = openSandbox(sandboxOptions(config));
  const sandbox = await unlessStopped(opening, signal, (late) => late.close());
  await sandbox.close();
  return { tier: sandbox.tier, skipped: sandbox.skipped };
}

const sandboxOptions = (config: Config) => ({
  type: config.sandbox.type,
  ...(config.sandbox.python !== undefined && { python: config.sandbox.python }),
  preload: config.sandbox.preload,
  ...(config.sandbox.url !== undefined && { url: config.sandbox.url }),
  ...(config.sandbox.tokenEnv !== undefined && { tokenEnv: config.sandbox.tokenEnv }),
  workers: sandboxWorkers(config),
  limits: { wallS: config.sandbox.wallS, memoryMiB: config.sandbox.memoryMiB },
});

interface MakerParts {
  config: Config;
  chosen: ChosenPlugins;
  container: Container;
  policy: Policy;
  toolRunner: ToolRunner;
  sandbox: Sandbox | undefined;
  shared: ReadonlyMap<string, ToolShared>;
  rewardsShared: ReadonlyMap<string, RewardShared>;
}

/** Makes environment, tools and rewards anew for each episode, in a container that knows its task. */
function episodeMaker({
  config,
  chosen,
  container,
  policy,
  toolRunner,
  sandbox,
  shared,
  rewardsShared,
}: MakerParts): EpisodeMaker {
  const { rollout, policy: settings } = config;
  const limits = { ...rollout, maxTurnTokens: settings.maxTurnTokens };
  return ({ task, sample }) => {
    const own = episodeContainer(
      container,
      task,
      sandbox === undefined ? [] : [[SANDBOX, sandboxOf(sandbox, `${task.taskId}/${sample}`)]],
    );
    const inThread = chosen.tools.filter(({ entry }) => entry.spec.isolated === undefined);
    const tools = new Map(
      inThread.map((tool) => {
        const { name } = tool.entry.spec;
        return [name, construct<Tool>(own, { ...naming(tool), shared: shared.get(name) })];
      }),
    );
    return {
      policy,
      environment: make(own, chosen.environment) as Environment,
      tools,
      toolRunner,
      rewards: chosen.rewards.map(({ name, weight, tool, ...reward }) => ({
        name,
        weight,
        ...(tool !== undefined && { tool }),
        score: rewardFunction(own, { ...naming(reward), shared: rewardsShared.get(name) }),
      })),
      environmentWeight: config.algorithm.environmentWeight,
      invalidCallPenalty: rollout.invalidCallPenalty,
      limits,
      close: async () => {
        for (const one of tools.values()) await one.close?.();
      },
      ...(sandbox && { sandboxLevel: sandbox.capabilities().level }),
    };
  };
}

const naming = ({ entry, settings }: Chosen<{ name: string }>) => ({
  name: entry.spec.name,
  plugin: entry.plugin,
  settings,
});

const make = (container: Container, chosen: Chosen<{ name: string }>): object =>
  construct<object>(container, naming(chosen));
