import type { Metrics } from '../telemetry/index.ts';

/** Something an iteration's numbers say that the user can act on. */
interface Advice {
  /** Said once a run. */
  about:
    | 'nothing-learned'
    | 'no-calls'
    | 'malformed-calls'
    | 'rejected-calls'
    | 'cut-off'
    | 'slow-rollouts';
  text: string;
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;

/** From this share of episodes on, something is wrong with most and not with a few. */
const most = 0.5;

/** What the advice depends on: it names only settings that the run has and does not use yet. */
export interface AdvisedRun {
  /** Whether it has a sandbox. */
  sandbox?: boolean;
  /** Whether it has tools. */
  tools?: boolean;
  /** Whether `environment.systemPrompt` is a setting of its environment. */
  systemPrompt?: boolean;
  /** Whether rollout.resampleZeroVariance is enabled. */
  resamples?: boolean;
}

/** What stands out in an iteration, with the settings that change it. Every remedy is in README's troubleshooting table. */
export function iterationAdvice(
  metrics: Metrics,
  {
    sandbox = true,
    tools: hasTools = true,
    systemPrompt = true,
    resamples = false,
  }: AdvisedRun = {},
): Advice[] {
  const advice: Advice[] = [];
  const { 'rollout/episodes': episodes = 0, 'group/count': groups = 0 } = metrics;
  const { 'rollout/malformedCalls': malformed = 0, 'rollout/toolCallRate': callRate = 1 } = metrics;
  const { 'rollout/rejectedCalls': rejected = 0 } = metrics;
  const { 'outcome/truncated-tokens': cutOff = 0, 'busy/collect': collect = 0 } = metrics;
  const { 'seconds/tools': tools = 0, 'seconds/generation': generation = 0 } = metrics;
  if (groups > 0 && metrics['group/zeroVariance'] === groups) {
    const { 'group/allRight': right = 0, 'group/allWrong': wrong = 0 } = metrics;
    advice.push({
      about: 'nothing-learned',
      text: `Nothing was learned: all ${groups} groups have equal rewards (${right} all right, ${wrong} all wrong). Raise rollout.groupSize, ${resamples ? '' : 'set rollout.resampleZeroVariance.enabled, '}or give tasks the policy solves sometimes: easier ones or agent-rl sft first when all are wrong, harder ones when all are right.`,
    });
  }
  const inPrompt = systemPrompt ? ' (environment.systemPrompt)' : '';
  if (hasTools && callRate < most) {
    advice.push({
      about: 'no-calls',
      text: `Only ${percent(callRate)} of episodes call a tool (rollout/toolCallRate), so most end at once. Warm the model up on calls with agent-rl sft, or say in the prompt that the tool must be used${inPrompt}.`,
    });
  }
  if (episodes > 0 && malformed >= most * episodes) {
    advice.push({
      about: 'malformed-calls',
      text: `${malformed} tool calls in ${episodes} episodes could not be read (rollout/malformedCalls). Check that policy.type and the chat template are the model's own, raise policy.maxTurnTokens if calls are cut off, set rollout.invalidCallPenalty, or warm the model up with agent-rl sft.`,
    });
  }
  if (episodes > 0 && rejected >= most * episodes) {
    advice.push({
      about: 'rejected-calls',
      text: `${rejected} tool calls in ${episodes} episodes named a tool that is not there or had arguments that do not fit (rollout/rejectedCalls). List the tool under tools:, say in the prompt what it is called${inPrompt}, or warm the model up with agent-rl sft.`,
    });
  }
  if (episodes > 0 && cutOff >= most * episodes) {
    advice.push({
      about: 'cut-off',
      text: `${cutOff} of ${episodes} episodes ran out of tokens (outcome/truncated-tokens). Raise policy.maxTurnTokens or rollout.maxEpisodeTokens.`,
    });
  }
  if (collect > most && tools > generation) {
    advice.push({
      about: 'slow-rollouts',
      text: `${percent(collect)} of the time went into episodes, more of it into waiting for tools than into sampling (busy/collect, seconds/tools). ${sandbox ? 'Raise sandbox.workers or rollout.workers, or lower sandbox.wallS' : 'Raise rollout.workers, or lower the deadlines of the tools'}.`,
    });
  }
  return advice;
}
