import { isSystemFailure } from '#agent_rl/core/outcome.ts';
import { keyOutsideRuns, membersOf, onlyAgent } from '#agent_rl/core/rollout.ts';
import type { Member, Part, Rollout, RolloutKey } from '#agent_rl/core/rollout.ts';
import { Transcript, type TranscriptRecord } from '#agent_rl/core/transcript.ts';
import type { Group } from '#agent_rl/trainer/collect/collection.ts';

interface PartSketch extends Partial<Part> {
  /** Tokens; 3 and 2 by default. */
  sampled?: number;
  prompt?: number;
}

/** `prompt` tokens, then `sampled` ones of log-probability -0.5. */
export function sequence(prompt: number, sampled: number): TranscriptRecord {
  const transcript = new Transcript();
  const [read, drawn] = [Array.from({ length: prompt }), Array.from({ length: sampled })];
  transcript.append(
    'user',
    [...read.keys()].map((i) => i + 1),
  );
  transcript.appendSampled(
    [...drawn.keys()].map((i) => 10 + i),
    drawn.map(() => -0.5),
    1,
  );
  return transcript.record();
}

/** A finished part of one turn; its reward is 0 where none is given and the system did not fail. */
export function part({ sampled = 3, prompt = 2, ...given }: PartSketch = {}): Part {
  const { outcome = 'completed' } = given;
  const reward = isSystemFailure(outcome) ? undefined : (given.reward ?? 0);
  return {
    agent: onlyAgent,
    policy: onlyAgent,
    learns: true,
    sequences: [sequence(prompt, sampled)],
    messages: [],
    calls: [],
    turns: 1,
    malformedCalls: 0,
    outcome,
    success: (reward ?? 0) > 0,
    components: {},
    scores: {},
    unpaid: undefined,
    metrics: {},
    answer: undefined,
    record: undefined,
    seconds: { generation: 0, tools: 0, grading: 0 },
    hiddenInputs: {},
    retries: [],
    cutTokens: 0,
    undelivered: 0,
    requests: undefined,
    groupReward: undefined,
    unjudged: undefined,
    ...given,
    reward,
  };
}

interface Facts extends Partial<Omit<Rollout, 'key' | 'parts' | 'outcome'>>, Partial<RolloutKey> {}

/** The members of an object of some names, and the others. */
function divided(given: object, names: readonly string[]): [object, object] {
  const [some = [], others = []] = [true, false].map((isNamed) =>
    Object.entries(given).filter(([name]) => names.includes(name) === isNamed),
  );
  return [Object.fromEntries(some), Object.fromEntries(others)];
}

const keyNames = ['run', 'when', 'iteration', 'round', 'slot', 'sample'];

/** A rollout of these parts. */
export function rollout(parts: readonly Part[], facts: Facts = {}): Rollout {
  const [key, given] = divided(facts, keyNames);
  const outcome = parts[0]?.outcome ?? 'completed';
  return {
    key: { ...keyOutsideRuns(), ...key },
    taskId: 't',
    slice: undefined,
    step: 0,
    seed: 0,
    parts,
    outcome,
    judgedBy: undefined,
    sandboxLevel: undefined,
    failedAttempts: [],
    problem: isSystemFailure(outcome) ? 'it broke' : undefined,
    failure: undefined,
    ...given,
  };
}

/** A rollout of one part, with what is given of either. */
export function played(sketch: PartSketch & Facts = {}): Rollout {
  const [facts, own] = divided(sketch, factNames);
  return rollout([part(own)], facts);
}

const factNames = keyNames.concat(
  'taskId slice step seed judgedBy sandboxLevel failedAttempts problem failure'.split(' '),
);

/** The first part of a rollout, with it. */
export function memberOf(one: Rollout): Member {
  const [member] = membersOf(one);
  if (member === undefined) throw new Error('The rollout has no part.');
  return member;
}

/** A part of a rollout of its own. */
export const member = (sketch: PartSketch & Facts = {}): Member => memberOf(played(sketch));

/** A group of these, compared by their rewards; its advantages are the same numbers. */
export function groupOf(members: readonly Member[], more: Partial<Group> = {}): Group {
  const rewards = members.map((one) => one.part.reward);
  const { agent, learns } = members[0]?.part ?? part();
  return {
    task: { taskId: members[0]?.rollout.taskId ?? 't', prompt: '', metadata: {} },
    agent,
    learns,
    members,
    rewards,
    advantages: rewards,
    zeroVariance: false,
    again: false,
    selected: undefined,
    kl: undefined,
    overlong: undefined,
    penalised: 0,
    replaced: [],
    weights: undefined,
    retries: 0,
    leftOut: 0,
    ...more,
  };
}
