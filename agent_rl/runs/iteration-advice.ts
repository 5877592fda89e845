import type { Metrics } from '../telemetry/index.ts';

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
  /** Whether algorithm.selection is dynamic. */
  resamples?: boolean;
  /** Most in an episode; 1 by default. */
  agents?: number;
}

/**
 * What stands out in an iteration, with the settings that change it, by topic: each topic is shown once a run.
 * Every remedy is in README's troubleshooting table.
 */
export function iterationAdvice(
  metrics: Metrics,
  {
    sandbox = true,
    tools = true,
    systemPrompt = true,
    resamples = false,
    agents = 1,
  }: AdvisedRun = {},
): { about: string; text: string }[] {
  const of = (name: keyof Metrics, absent = 0): number => metrics[name] ?? absent;
  const [episodes, groups] = [of('rollout/episodes'), of('group/count')];
  const [right, wrong] = [of('group/allRight'), of('group/allWrong')];
  const callRate = of('rollout/toolCallRate', 1);
  const [malformed, rejected] = [of('rollout/malformedCalls'), of('rollout/rejectedCalls')];
  const cutOff = of('outcome/truncated-tokens');
  const collect = of('busy/collect');
  const inPrompt = systemPrompt ? ' (environment.systemPrompt)' : '';
  const inMost = (count: number): boolean => episodes > 0 && count >= most * episodes;
  const advice = [
    {
      about: 'nothing-learned',
      applies: groups > 0 && metrics['group/zeroVariance'] === groups,
      text: `Nothing was learned: all ${groups} groups have equal rewards (${right} all right, ${wrong} all wrong). Raise rollout.groupSize, ${resamples ? '' : 'set algorithm.selection.type: dynamic, '}or give tasks the policy solves sometimes: easier ones or agent-rl sft first when all are wrong, harder ones when all are right.`,
    },
    {
      about: 'no-calls',
      applies: tools && callRate < most,
      text: `Only ${percent(callRate)} of episodes call a tool (rollout/toolCallRate), so most end at once. Warm the model up on calls with agent-rl sft, or say in the prompt that the tool must be used${inPrompt}.`,
    },
    {
      about: 'malformed-calls',
      applies: inMost(malformed),
      text: `${malformed} tool calls in ${episodes} episodes could not be read (rollout/malformedCalls). Check that policy.type and the chat template are the model's own, raise policy.maxTurnTokens if calls are cut off, set rollout.invalidCallPenalty, or warm the model up with agent-rl sft.`,
    },
    {
      about: 'rejected-calls',
      applies: inMost(rejected),
      text: `${rejected} tool calls in ${episodes} episodes named a tool that is not there or had arguments that do not fit (rollout/rejectedCalls). List the tool under tools:, say in the prompt what it is called${inPrompt}, or warm the model up with agent-rl sft.`,
    },
    {
      about: 'cut-off',
      applies: inMost(cutOff / agents),
      text: `${cutOff} of ${agents * episodes} ${agents === 1 ? 'episodes' : "transcripts of the episodes' agents"} ran out of tokens (outcome/truncated-tokens). Raise policy.maxTurnTokens or rollout.maxEpisodeTokens.`,
    },
    {
      about: 'slow-rollouts',
      applies: collect > most && of('seconds/tools') > of('seconds/generation'),
      text: `${percent(collect)} of the time went into episodes, more of it into waiting for tools than into sampling (busy/collect, seconds/tools). ${sandbox ? 'Raise sandbox.workers or rollout.workers, or lower sandbox.wallS' : 'Raise rollout.workers, or lower the deadlines of the tools'}.`,
    },
  ];
  return advice.filter(({ applies }) => applies);
}
