import { type Config, isTrained } from '../config/index.ts';
import type { EnvironmentSpec } from '../core/plugins/environment.ts';
import { onlyAgent } from '../core/rollout.ts';
import { type EpisodeAgent, oneAgent } from '../rollout/world.ts';
import type { SettingProblem } from './plugins/plugin-problems.ts';

type AgentBlocks = Partial<Pick<Config, 'agents' | 'train' | 'policies'>>;

/** In a config with problems it may be anything. */
const blocksOf = ({ agents }: AgentBlocks): Config['agents'] =>
  Array.isArray(agents) ? (agents as Config['agents']) : [];

/** The agents of an environment, with the run's options for them. */
export function agentsOf(
  spec: Pick<EnvironmentSpec, 'agents'> | undefined,
  config: AgentBlocks,
): readonly EpisodeAgent[] {
  if (spec?.agents === undefined) return oneAgent;
  const blocks = blocksOf(config);
  const { policies = {} } = config;
  return spec.agents.map((name) => {
    const { train = true, policy = onlyAgent } = blocks.find((one) => one.name === name) ?? {};
    return { name, learns: train && isTrained({ policies }, policy), policy };
  });
}

/** Unknown and duplicate agents, and environments without a learning agent. */
export function agentProblems(
  environments: readonly { name: string; agents: readonly EpisodeAgent[] }[],
  config: AgentBlocks,
): SettingProblem[] {
  const several = environments.filter(({ agents }) => agents.length > 1);
  const known = [...new Set(several.flatMap(({ agents }) => agents.map(({ name }) => name)))];
  const names = blocksOf(config).map(({ name }) => name);
  const named = names.flatMap((name, index): SettingProblem[] => {
    const path = `agents.${index}.name`;
    const first = names.indexOf(name);
    if (first !== index)
      return [{ path, text: `duplicate agent "${name}" (also agents.${first}). Keep one.` }];
    if (known.includes(name)) return [];
    const text =
      known.length === 0
        ? 'the environments of this run have only one agent. Remove the setting agents.'
        : `no environment of this run has an agent "${name}". Agents: ${known.join(', ')}.`;
    return [{ path, text }];
  });
  if (config.train?.mode === 'sft') return named;
  const idle = environments.filter(({ agents }) => agents.every(({ learns }) => !learns));
  const learning = new Set(
    environments.flatMap(({ agents }) =>
      agents.flatMap(({ learns, policy }) => (learns ? policy : [])),
    ),
  );
  const trained = Object.keys(config.policies ?? {}).filter((name) =>
    isTrained({ policies: config.policies ?? {} }, name),
  );
  const without = [onlyAgent, ...trained].filter((name) => !learning.has(name));
  return [
    ...named,
    ...idle.map(({ name }) => ({
      path: 'agents',
      text: `no agent of environment ${name} is trained. Remove train: false from at least one of its agents, or let a policy with a learner play it.`,
    })),
    ...(idle.length > 0 ? [] : without).map((name) => ({
      path: name === onlyAgent ? 'agents' : `policies.${name}.learner`,
      text: `${name === onlyAgent ? 'the policy at the top level' : `policy ${name}`} plays no agent that learns, so there is nothing to train it on. ${name === onlyAgent ? 'Let it play at least one of them.' : 'Remove its learner, or name it in agents[].policy.'}`,
    })),
  ];
}
