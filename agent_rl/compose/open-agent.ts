import { Cleanup } from '../core/stopping/cleanup.ts';
import { EventLog } from '../core/services/event-log.ts';
import { AgentRlError } from '../core/errors.ts';
import type { Policy } from '../core/plugins/policy.ts';
import { withoutAnswers } from '../core/plugins/reward.ts';
import type { ToolShared, ToolSpec } from '../core/plugins/tool.ts';
import type { EpisodeMaker } from '../rollout/episode-parts.ts';
import { AsyncRolloutWorker, RolloutWorker, type Rollouts } from '../rollout/rollout-worker.ts';
import { ToolRunner } from '../rollout/tools/tool-runner.ts';
import { reportsOf, type RunReports } from '../runs/run-reports.ts';
import { type OpenedSandbox, sandboxOf } from '../sandbox/open-sandbox.ts';
import { pluginHooks } from '../threads/plugin-hooks.ts';
import type { GroupRewarding } from '../trainer/collect/group-rewards.ts';
import { openRewarding } from './open-rewarding.ts';
import { episodeMaker, episodeSettings, episodeTools } from './episode-maker.ts';
import type { Imitation } from './model/open-engine.ts';
import { type ModelServices, openModelServices } from './model/open-model-services.ts';
import { openRunGateway } from './open-run-gateway.ts';
import { openRunSandbox } from './open-run-sandbox.ts';
import { construct, episodeContainer, runContainer } from './plugins/container.ts';
import { needs, requireAbilities } from './plugins/plugin-needs.ts';
import type { ResolvedRun } from './resolve-run.ts';

export interface AgentOptions {
  /** Most episodes at once. */
  workers: number;
  /** Whether its weights will be changed. */
  trains: boolean;
  /** As `ModelServicesRequest.imitates`. */
  imitates?: Imitation | undefined;
  /** As `ModelServicesRequest.packs`. */
  packs?: boolean | undefined;
  /** Plays instead of the run's policy; no model is opened then. */
  policy?: Policy | undefined;
  /** Cancels the opening. */
  signal: AbortSignal;
}

/** Everything that plays episodes: model, sandbox, policy, tools, environments, rewards. */
export interface Agent {
  /** Generator and learner; absent if another policy plays. */
  model: ModelServices | undefined;
  policy: Policy;
  /** Notes for the user on how conversations become tokens, for each model that plays. */
  notes: readonly string[];
  sandbox: OpenedSandbox | undefined;
  toolSpecs: readonly ToolSpec[];
  toolRunner: ToolRunner;
  /** Instances of the tools for one that plays no task. @param name of what they keep in the sandbox */
  tools: (name: string) => ReturnType<typeof episodeTools>;
  make: EpisodeMaker;
  rollouts: Rollouts;
  /** The reward manager; absent without training. */
  rewarding: GroupRewarding | undefined;
  /** Reports of tools and rewards on the run so far, including earlier sessions. */
  reports(earlier?: RunReports): RunReports;
  close(): Promise<void>;
}

/** An agent whose weights can be changed. */
export type TrainableAgent = Agent & {
  rewarding: GroupRewarding;
  model: ModelServices & { training: NonNullable<ModelServices['training']> };
};

/** Opens the agent of a run that was resolved to be trained. */
export const openTrainableAgent = async (
  run: ResolvedRun,
  options: Omit<AgentOptions, 'trains'>,
): Promise<TrainableAgent> =>
  (await openAgent(run, { ...options, trains: true })) as TrainableAgent;

/** Opens an agent. @throws AgentRlError of whatever is missing; nothing is left running then. */
export async function openAgent(run: ResolvedRun, options: AgentOptions): Promise<Agent> {
  const opened = new Cleanup();
  try {
    return await openParts(run, options, opened);
  } catch (thrown) {
    await opened.abandon();
    throw thrown;
  }
}

async function openParts(
  run: ResolvedRun,
  { workers, trains, imitates, packs, signal, policy: given }: AgentOptions,
  opened: Cleanup,
): Promise<Agent> {
  const { config, chosen, model, policies, format, isolated } = run;
  // First, so that wrong tool settings show before anything slow starts.
  const { env: environment } = process;
  const incidents = new EventLog<string>();
  const host = { environment, warn: (text: string) => incidents.add(text) };
  const toolsShared = await openShared(
    chosen.tools.map(({ entry: { spec }, settings, set }) => [
      set?.name ?? spec.name,
      async () => spec.open?.(settings, host),
    ]),
    opened,
  );
  const environmentsShared = await openShared(
    chosen.environments.map(({ name, entry: { spec }, settings }) => [
      name,
      async () => spec.open?.(settings, host),
    ]),
    opened,
  );
  const rewardsShared = await openShared(
    chosen.rewards.map(({ name, blind, entry: { spec }, settings }) => [
      name,
      async () => {
        const { rewarded } = run.tasks;
        const tasks = blind ? rewarded.map(withoutAnswers) : rewarded;
        return spec.open?.(settings, { environment, tasks });
      },
    ]),
    opened,
  );
  const sandbox = needs(chosen, 'sandbox')
    ? opened.add(await openRunSandbox(config, signal))
    : undefined;
  if (sandbox !== undefined) {
    const tasks = [...run.tasks.train, ...run.tasks.evaluation];
    requireAbilities(sandbox, { tasks, tools: chosen.tools });
  }
  const toolSpecs = chosen.tools.map(({ entry }) => entry.spec);
  const sources = new Map(
    chosen.tools.map(({ entry }) => [entry.spec.name, entry.source] as const),
  );
  const { toolThrows, retries } = episodeSettings(config);
  const toolRunner = opened.add(
    new ToolRunner(toolSpecs, pluginHooks(), isolated, { throws: toolThrows, sources }),
  );
  toolRunner.startAhead(workers);
  const services =
    given === undefined
      ? await openModelServices(
          run,
          { workers, trains, imitates, packs, incidents, signal },
          opened,
        )
      : undefined;
  const { generator } = services ?? {};
  const container = runContainer({ model: model.text, generator, format, sandbox });
  const policy = given ?? construct<Policy>(container, chosen.policy);
  const others = new Map(
    [...policies].map(([name, one]) => {
      const own = { generator: services?.others.get(name)?.generator, format: one.format };
      const within = runContainer({ model: one.model.text, ...own, sandbox });
      return [name, given ?? construct<Policy>(within, one.chosen.policy)];
    }),
  );
  const parts = { config, chosen, container, policy, others, toolRunner, sandbox };
  const rewarding = trains ? openRewarding({ config, chosen, container }, opened) : undefined;
  const gateway =
    services === undefined ? undefined : await openRunGateway(run, { services, workers }, opened);
  const shared = { environmentsShared, toolsShared, rewardsShared };
  const maker = episodeMaker({ ...parts, ...shared, gateway });
  return {
    model: services,
    policy,
    notes: notesOf(policy, others),
    sandbox,
    toolSpecs,
    toolRunner,
    tools: (name) => {
      const brought = chosen.tools.find(({ set }) => set?.isEnvironment);
      if (brought !== undefined)
        throw new AgentRlError(
          'CONFIG_INVALID',
          `${brought.entry.spec.name} is a tool of the environment ${brought.set?.name}, which exists in its episodes only.`,
        );
      const task = { taskId: name, prompt: '', metadata: {} };
      const own = { task, sandbox: sandbox && sandboxOf(sandbox, name) };
      return episodeTools(chosen.tools, episodeContainer(container, own), toolsShared);
    },
    make: maker,
    rewarding,
    rollouts:
      workers === 1 && config.async.lag === 0
        ? new RolloutWorker(maker, retries)
        : new AsyncRolloutWorker(maker, workers, retries),
    reports: (earlier) => ({
      tools: reportsOf(new Map([...toolsShared, ...environmentsShared]), earlier?.tools),
      rewards: reportsOf(rewardsShared, earlier?.rewards),
    }),
    close: () => opened.close(),
  };
}

function notesOf({ notes = [] }: Policy, others: ReadonlyMap<string, Policy>): string[] {
  const theirs = [...others].flatMap(([name, policy]) =>
    (policy.notes ?? []).filter((note) => !notes.includes(note)).map((note) => `${name}: ${note}`),
  );
  return [...notes, ...theirs];
}

/** What the instances of each tool, environment or reward share, by name. Opened one after another. */
async function openShared<Shared extends ToolShared>(
  openings: readonly (readonly [name: string, open: () => Promise<Shared | undefined>])[],
  opened: Cleanup,
): Promise<ReadonlyMap<string, Shared>> {
  const shared = new Map<string, Shared>();
  for (const [name, open] of openings) {
    // The tools of a set share what it opened.
    if (shared.has(name)) continue;
    const one = await open();
    if (one !== undefined) shared.set(name, opened.add(one));
  }
  return shared;
}
