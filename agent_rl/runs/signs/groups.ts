import { largest } from '../../core/long-lists.ts';
import { countText, percentText } from '../../telemetry/index.ts';
import type { AgentTally } from './episode-counts.ts';
import { type Check, ok, unknown, judged } from './check.ts';

export const groups: Check = {
  name: 'no-variance',
  effect: true,
  asks: 'Do rewards differ within groups?',
  look: ({ settings, series }) => {
    const count = series.total('group/count');
    if (count === 0) return unknown('no groups are recorded');
    const equal = series.total('group/zeroVariance');
    const [right, wrong] = [series.total('group/allRight'), series.total('group/allWrong')];
    const seen = `${percentText(equal / count)} of ${countText(count, 'group')} have equal rewards (group/zeroVariance); all episodes are right in ${right} and wrong in ${wrong}`;
    if (settings.at('algorithm.distill.teacher') !== undefined)
      return ok(`${seen}; a teacher needs no spread`);
    // Solved tasks end in groups that are all right: 0.8 is where the shipped jobs end.
    if ((series.late('rollout/successRate') ?? 0) >= 0.8 && right >= wrong)
      return ok(`${seen}; the tasks are solved`);
    // Half is usual; with nine in ten an update has a tenth of its episodes.
    return judged(equal / count, { wrong: 0.9, suspicious: 0.7 }, seen, {
      says: seen,
      tries: [
        advice({ equal, right, wrong }),
        `raise ${settings.now('rollout.groupSize')}; set ${settings.now('algorithm.selection.type')} to dynamic; raise ${settings.now('policy.sampling.temperature')} if episodes are identical`,
      ],
      example: right >= wrong ? 'scored' : 'unsolved',
    });
  },
};

/** Tasks that are drawn again and again. */
export const fewTasks: Check = {
  name: 'few-tasks',
  asks: 'Are tasks varied enough?',
  look: ({ settings, episodes }) => {
    const { scored = 0, agents } = episodes ?? {};
    const learning = [...(agents ?? [])].filter(([, { learns }]) => learns).length;
    const drawn = Math.floor(
      scored / settings.number('rollout.groupSize', 1) / Math.max(1, learning),
    );
    if (episodes === undefined || drawn < leastGroups)
      return unknown('too few groups are recorded');
    const { prompts } = episodes;
    const says = `${countText(prompts, 'different prompt')} in ${countText(drawn, 'group')}`;
    // The shipped jobs draw each task at most four times; at twenty its answer is learned by heart.
    return judged(
      drawn / Math.max(1, prompts),
      {
        wrong: prompts <= 3 ? leastGroups / 3 : Infinity,
        suspicious: 20,
      },
      says,
      {
        says: `${says}: the policy can memorise the answers`,
        tries: [
          `use more different tasks: ${settings.now('datasets')}, ${settings.now('dataset.trainSplit')}, ${settings.now('dataset.maxSamples')}`,
        ],
        example: 'scored',
      },
    );
  },
};

const leastGroups = 24;

const rateOf = ({ scored, solved }: AgentTally): number => solved / scored;

/** Agents that learn and lose to another nearly always. */
export const oneSided: Check = {
  name: 'one-sided',
  asks: 'Do trained agents win sometimes?',
  look: ({ settings, episodes }) => {
    if (episodes === undefined) return unknown('no training episode is recorded');
    const learning = [...episodes.agents].filter(([, { learns }]) => learns);
    if (episodes.agents.size < 2) return ok('each episode has only one agent');
    // Agents that work together win and lose together.
    const best = largest([...episodes.agents.values()].map(rateOf));
    const found = learning.find(
      ([, tally]) => tally.scored >= leastGames && rateOf(tally) < leastShare && best > 0.5,
    );
    const all = [...episodes.agents].map(
      ([name, { learns, scored, solved }]) =>
        `${name}${learns ? '' : ', which is not trained,'} wins ${solved} of ${scored} episodes`,
    );
    if (found === undefined) return ok(all.join('; '));
    const [name, { solved, scored }] = found;
    return {
      verdict: 'wrong',
      says: `${name} rarely wins (${solved} of ${scored} episodes), so it has little to learn from`,
      evidence: all,
      tries: [`use an opponent of similar strength: ${settings.now('agents')}`],
      example: 'scored',
    };
  },
};

const leastGames = 64;
/** In groups of eight two in three are then all lost. */
const leastShare = 0.05;

function advice({ equal, right, wrong }: Record<'equal' | 'right' | 'wrong', number>): string {
  if (right + wrong < 0.5 * equal)
    return 'check the reward: it does not distinguish episodes that solve their task from others';
  return right >= wrong
    ? 'use harder tasks, because the policy already solves these'
    : 'use easier tasks, or train with agent-rl sft first';
}
