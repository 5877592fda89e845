import { onlyAgent } from '../core/rollout.ts';
import type { Config } from './config-schema.ts';

/** Whether a policy is trained: otherwise its weights never change. */
export const isTrained = ({ policies }: Pick<Config, 'policies'>, name: string): boolean =>
  name === onlyAgent || policies[name]?.learner !== undefined;

/** The named policies that a job opens: for agents, and in training for the reference of a KL term and the teacher. */
export function openedPolicies(
  { policies, agents, algorithm, train }: Config,
  { plays, trains }: { plays: boolean; trains: boolean },
): readonly string[] {
  const playing = plays ? agents.map(({ policy }) => policy) : [];
  const { kl, distill } = algorithm;
  const scoring = trains && train.mode === 'rl' ? [kl.reference, distill.teacher] : [];
  return Object.keys(policies).filter((name) => [...playing, ...scoring].includes(name));
}

/** The config of a run in which the policy of this name stands at the top level. */
export function configOfPolicy(config: Config, name: string): Config {
  const own = config.policies[name];
  if (own === undefined) return config;
  const { lora: _lora, ...frozen } = config.model;
  const { sampling, maxTurnTokens } = config.policy;
  return {
    ...config,
    // A new adapter is only for a policy that learns.
    model: own.model ?? (isTrained(config, name) ? config.model : frozen),
    policy: { ...(own.policy ?? config.policy), sampling, maxTurnTokens },
    generator: own.generator,
    learner: own.learner ?? config.learner,
  };
}
