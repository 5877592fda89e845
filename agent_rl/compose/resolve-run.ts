import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { countParameters, type ParameterCounts } from '../../model/adapters/adapter.ts';
import {
  attemptsOf,
  type Config,
  configInvalid,
  configOfPolicy,
  isTrained,
  type LoadedConfig,
  openedPolicies,
  placeOf,
  type RunLength,
  runLength,
  type SettingOrigins,
  settingOrigins,
  shippedNotes,
} from '../config/index.ts';
import { AgentRlError } from '../core/errors.ts';
import { abortableStart } from '../core/stopping/abort.ts';
import { namedOrShipped, placesOf } from '../core/package-root.ts';
import { onlyAgent } from '../core/rollout.ts';
import type { ToolCallFormat } from '../core/plugins/tool-call-format.ts';
import { checkpointAt } from '../runs/checkpoints.ts';
import { holdsModel } from '../../model/weights/open-model.ts';
import { modelFolder, withLocalModel } from '../../model/find/model-folder.ts';
import { withAbsoluteConfig, withAbsoluteSettings } from './absolute-config.ts';
import { openToolCallFormat } from './plugins/open-tool-call-format.ts';
import type { ChosenPlugins } from './plugins/choose-plugins.ts';
import { isolatedSettings, needs } from './plugins/plugin-needs.ts';
import { withToolSets } from './plugins/tool-sets.ts';
import type { PreparedRun } from './prepare-run.ts';
import { type ResolvedPolicy, requireSameTokens, withSetting } from './model/resolved-policy.ts';
import { type ModelResolvers, type ResolvedModel, resolveModel } from './model/resolve-model.ts';
import { noTasks, resolveTasks, type RunTasks, type TaskRequest } from './resolve-tasks.ts';

/** What a job asks of a run. */
export interface RunRequest {
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  print: (text: string) => void;
  /** Downloads of models are not shown. */
  quiet?: boolean | undefined;
  /** Whether the weights will be changed. */
  trains: boolean;
  /** Whether conversations will be shown to the policy, which then needs a format for tool calls in any case. */
  demonstrates?: boolean;
  /** The tasks to read; without it the job reads no tasks and judges nothing. */
  tasks?: TaskRequest;
  /** Whether the job calls tools, by default; otherwise tool sets are not asked for theirs. */
  callsTools?: boolean;
  /** Run folder or checkpoint to use instead of the config's model and its adapters. */
  checkpoint?: string | undefined;
  /** Name of the policy to use at the top level, instead of the one that is there. */
  policy?: string | undefined;
  resolvers?: ModelResolvers;
}

/** A run in which everything is found, read and checked that needs neither an engine nor a sandbox. */
export interface ResolvedRun {
  /** Every path in it is absolute. */
  config: Config;
  /** The run file. Absolute. */
  file: string;
  /** Where each setting comes from. */
  origins: SettingOrigins;
  chosen: ChosenPlugins;
  model: ResolvedModel;
  /** The named policies that the job opens. */
  policies: ReadonlyMap<string, ResolvedPolicy>;
  tasks: RunTasks;
  length: RunLength;
  /** How tasks are attempted in evaluations. */
  attempts: ReturnType<typeof attemptsOf>;
  parameters: ParameterCounts;
  /** Notes for the log on how settings were read, one sentence each. */
  notes: readonly string[];
  /** Settings that were ignored or have no effect, one sentence each. */
  warnings: readonly string[];
  /** How tool calls are written; absent when the policy does not ask for it. */
  format: ToolCallFormat | undefined;
  /** Settings of the tools that run in threads of their own, by name. */
  isolated: ReturnType<typeof isolatedSettings>;
}

/**
 * Resolves everything a job needs before it opens anything: plugins, paths, tasks, model. It happens only here, so that
 * the user's mistakes end the job before anything is started or written.
 *
 * @throws AgentRlError for what the user can fix
 */
export async function resolveRun(given: PreparedRun, request: RunRequest): Promise<ResolvedRun> {
  const prepared = withPolicyOnTop(given, request.policy);
  const { loaded, plugins } = prepared;
  if (request.trains) requireTrainablePolicy(loaded, prepared.chosen);
  refuseIdleGenerator(loaded, prepared.chosen);
  if (request.trains) refuseLag(loaded, prepared.chosen);
  const checkpoint =
    request.checkpoint === undefined
      ? undefined
      : await checkpointAt(namedOrShipped(request.checkpoint), request.print);
  // A policy without a learner has no weights in a checkpoint: its model is as the run file says.
  const isSaved = isTrained(given.loaded.config, request.policy ?? onlyAgent);
  const found: Found =
    checkpoint === undefined || !isSaved
      ? { config: await withModel(loaded, request) }
      : fromCheckpoint(loaded.config, policyFolder(checkpoint, request.policy));
  const absolute = withAbsoluteSettings(prepared.chosen, request.tasks !== undefined);
  const chosen =
    request.callsTools === false
      ? { ...absolute, tools: absolute.tools.filter(({ entry }) => !entry.spec.find) }
      : await abortableStart(
          withToolSets(absolute, loaded, (text) => request.print(`Note: ${text}`)),
          request.signal,
        );
  refuseAdaptersOfOwnGenerator(found.config, chosen);
  const isolated = isolatedSettings(chosen.tools);
  const tasks =
    request.tasks === undefined
      ? noTasks
      : await abortableStart(
          resolveTasks(found.config, chosen, { ...request.tasks, print: request.print }),
          request.signal,
        );
  const folder = found.folder ?? modelFolder(found.config);
  const ownGenerator = chosen.policy.entry.spec.openGenerator !== undefined;
  const model = await resolveModel(found.config, folder, { ...request, ownGenerator });
  const format =
    request.demonstrates === true || needs({ policy: chosen.policy }, 'format')
      ? openToolCallFormat({ chosen, plugins, model: model.text })
      : undefined;
  const policies = new Map<string, ResolvedPolicy>();
  for (const name of openedPolicies(found.config, {
    plays: request.tasks !== undefined,
    ...request,
  }))
    policies.set(
      name,
      await resolvePolicy(
        name,
        { prepared, config: given.loaded.config, chosen, model, checkpoint },
        request,
      ),
    );
  const config = withAbsoluteConfig(found.config, { chosen, model, policies });
  const { file, warnings } = loaded;
  const notes = shippedNotes(loaded);
  const origins = settingOrigins(loaded, config);
  return {
    config,
    file,
    origins,
    notes,
    warnings,
    chosen,
    model,
    policies,
    tasks,
    length: runLength(config),
    attempts: attemptsOf(config.eval),
    parameters: countParameters(model.description),
    format,
    isolated,
  };
}

/**
 * The run as its policy of this name stands at the top level.
 *
 * @throws AgentRlError `CONFIG_INVALID` when the run has no such policy
 */
function withPolicyOnTop(prepared: PreparedRun, name: string | undefined): PreparedRun {
  const chosen = prepared.policies.get(name ?? '');
  if (name === undefined || name === onlyAgent) return prepared;
  const { loaded, policies } = prepared;
  if (chosen === undefined)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `The run has no policy named ${JSON.stringify(name)}. Policies: ${[onlyAgent, ...policies.keys()].join(', ')}.`,
    );
  const config = configOfPolicy(loaded.config, name);
  return { ...prepared, chosen, loaded: { ...loaded, config } };
}

/** The folder of a policy's weights in a checkpoint. @throws AgentRlError `CHECKPOINT_INVALID` */
function policyFolder(checkpoint: string, name: string = onlyAgent): string {
  const folder = name === onlyAgent ? checkpoint : join(checkpoint, name);
  if (holdsModel(folder)) return folder;
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `${checkpoint} holds no weights of the policy ${JSON.stringify(name)}: it was not trained there. Leave out the checkpoint, or give its model with policies.${name}.model.path.`,
  );
}

/** Of a folder that holds a checkpoint of several policies, the folder of this one. */
const ownFolder = (folder: string, name: string): string =>
  holdsModel(join(folder, name)) ? join(folder, name) : folder;

interface Found {
  config: Config;
  folder?: string;
}

interface PolicyOf extends Pick<ResolvedRun, 'config' | 'chosen' | 'model'> {
  prepared: PreparedRun;
  /** The checkpoint that the job uses. */
  checkpoint: string | undefined;
}

/** A named policy. @throws AgentRlError that begins with `policies.NAME` */
async function resolvePolicy(
  name: string,
  { prepared, config: whole, chosen: run, model: own, checkpoint }: PolicyOf,
  request: RunRequest,
): Promise<ResolvedPolicy> {
  const { loaded, plugins } = prepared;
  const { policy, toolCallFormat, generator, learner } = prepared.policies.get(name)!;
  const parts = { policy, toolCallFormat, generator, learner };
  const chosen = withAbsoluteSettings({ ...run, ...parts }, request.tasks !== undefined);
  const learns = isTrained(whole, name);
  const trains = request.trains && learns;
  return withSetting(`policies.${name}`, async () => {
    const at = { ...loaded, config: configOfPolicy(whole, name) };
    if (trains) requireTrainablePolicy(loaded, chosen);
    refuseIdleGenerator(loaded, chosen);
    const isSaved = checkpoint !== undefined && learns && holdsModel(join(checkpoint, name));
    if (checkpoint !== undefined && learns && !isSaved)
      request.print(
        `Note: ${checkpoint} has no weights of policy ${name}, which plays as it starts.`,
      );
    const { config, folder = ownFolder(modelFolder(config), name) }: Found = isSaved
      ? fromCheckpoint(at.config, policyFolder(checkpoint, name))
      : { config: await withModel(at, request) };
    // A policy whose weights stay on a server needs a tokenizer and a config here, and no weights.
    const ownGenerator =
      policy.entry.spec.openGenerator !== undefined ||
      (!learns && generator.entry.spec.engine !== true);
    const model = await resolveModel(config, folder, { ...request, trains, ownGenerator });
    const plays = whole.agents.some((agent) => agent.policy === name);
    const lists = name === whole.algorithm.distill.teacher ? whole.algorithm.distill.topK : 0;
    await requireSameTokens(model, own, plays || lists > 0);
    const format = needs({ policy }, 'format')
      ? openToolCallFormat({ chosen, plugins, model: model.text })
      : undefined;
    return { config, chosen, model, format, learns };
  });
}

const isRun = (place: string): boolean =>
  existsSync(join(place, 'config.yaml')) && !holdsModel(place);

/** The config with a local model: for a run, its newest checkpoint. */
async function withModel(loaded: LoadedConfig, request: RunRequest): Promise<Config> {
  const { path } = loaded.config.model;
  const run = placesOf(path).find(isRun);
  if (run === undefined) return (await withLocalModel({ ...request, loaded })).loaded.config;
  const folder = await checkpointAt(run, request.print);
  request.print(
    `Note: model.path is a run folder, ${path}. Using its newest checkpoint: ${folder}`,
  );
  return { ...loaded.config, model: { ...loaded.config.model, path: folder } };
}

/** A checkpoint contains the adapters that it was trained with, so the config's adapters are dropped. */
function fromCheckpoint(config: Config, folder: string) {
  const { lora: _lora, ...model } = config.model;
  return { folder, config: { ...config, model: { ...model, adapters: [] } } };
}

/** @throws AgentRlError `CONFIG_INVALID`, with the place of `policy.type`, for a policy that cannot be trained */
export function requireTrainablePolicy(
  { places }: LoadedConfig,
  { policy }: Pick<ChosenPlugins, 'policy'>,
): void {
  const { name, openGenerator } = policy.entry.spec;
  if (openGenerator === undefined) return;
  const text = `policy ${name} has its own generator, whose weights cannot be trained. Use it with agent-rl eval and chat, and train with another policy, such as huggingface.`;
  const { value: location } = placeOf(places, '/policy/type');
  throw configInvalid([{ location, path: 'policy.type', text }]);
}

/**
 * @throws AgentRlError `CONFIG_INVALID`, with the place of `generator.type`, for a generator that the policy would not
 * use
 */
function refuseIdleGenerator(
  { places }: LoadedConfig,
  { policy, generator }: Pick<ChosenPlugins, 'policy' | 'generator'>,
): void {
  const { name, openGenerator } = policy.entry.spec;
  const named = generator.entry.spec.name;
  if (openGenerator === undefined || named === 'engine') return;
  const text = `policy ${name} has its own generator and would ignore "${named}". Remove generator, or use another policy, such as huggingface.`;
  const { value: location } = placeOf(places, '/generator/type');
  throw configInvalid([{ location, path: 'generator.type', text }]);
}

/** @throws AgentRlError `CONFIG_INVALID` for `async.lag` that this run cannot learn or play with */
function refuseLag(
  { config, places }: LoadedConfig,
  { loss, correction, generator, learner }: ChosenPlugins,
): void {
  const { run, train, async: overlap } = config;
  if (overlap.lag === 0 || train.mode === 'sft') return;
  const inProcess = [generator, learner].every(({ entry }) => entry.spec.engine === true);
  const { name, clips } = loss.entry.spec;
  const others = Object.keys(config.policies).filter((other) => isTrained(config, other));
  const problem =
    others.length > 0
      ? `several policies are trained (${others.join(', ')}), which needs lag 0.`
      : clips !== true && correction.entry.spec.name === 'none'
        ? `with lag 1, tokens are learned from that older weights sampled, and the loss "${name}" neither clips nor corrects how much more likely they have become: training may diverge. Use algorithm.loss clipped, gspo or cispo, or set algorithm.correction.`
        : inProcess && run.device !== 'cpu'
          ? `with lag 1, threads of the CPU play while the engine learns, but run.device is ${run.device}. Use lag 0, or a generator on a server.`
          : undefined;
  if (problem === undefined) return;
  const { value: location } = placeOf(places, '/async/lag');
  throw configInvalid([{ location, path: 'async.lag', text: problem }]);
}

/** @throws AgentRlError `CONFIG_INVALID` */
function refuseAdaptersOfOwnGenerator({ model }: Config, { policy }: ChosenPlugins): void {
  const { name, openGenerator } = policy.entry.spec;
  if (openGenerator === undefined) return;
  if (model.adapters.length === 0 && model.lora === undefined) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `policy ${name} has its own generator, which does not support model.adapters and model.lora. Remove them; agent-rl model export --adapter merges adapters into a model.`,
  );
}
