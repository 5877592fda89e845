import { type ControlName, controlNames, controlTitles } from '../control.ts';
import type { SeedControls } from '../controls-of-seed.ts';

const equalSeconds = "for as many processor seconds as the run's training takes";

const sentences: Readonly<Record<ControlName, string>> = {
  before: 'the model that the run starts from.',
  after: 'the run.',
  'pass-before':
    'pass@k, the chance that one of k attempts of the model before the run succeeds, sampled at temperature 1: what there is for RL to find.',
  'more-warm-up': `the model before the run, trained on by supervision on fresh conversations of the same unreliable teacher, ${equalSeconds}.`,
  'right-demonstrations': `the same on a teacher's work without slips, ${equalSeconds}: in \`workspace\` on the tasks that the run draws and would draw next, in \`code_exec\` the references of such tasks, in \`search\` on fresh questions of the warm-up's names and kinds.`,
  'rejection-sampling': `the model before the run samples training tasks and learns from the attempts that the run's judge finds right, again and again, ${equalSeconds}.`,
  'rl-from-right-demonstrations':
    'the run once more, from the model that right demonstrations made: its seconds come on top of theirs.',
  'rl-priced-from-right-demonstrations':
    'the same with a price on each call and on each error, which no demonstration lowers.',
  'shuffled-rewards': 'the run with the rewards of each group dealt out at random.',
  'blank-output': 'the run where programs run and the agent reads nothing.',
  'tool-unavailable': 'the run where nothing runs and each call is answered with an error.',
  'lying-output':
    'the run where programs run in another world of the same names, so that what they print is consistent and wrong: how often the answer is right anyway, and how often it is the answer of the world that was shown.',
  'table-without-model':
    'for each family of tasks the constant answer that earned most in training. Where evaluation and training share no answers it cannot be right.',
};

const general = [
  'Greedy unless stated otherwise. Brackets are 95 % intervals by cluster bootstrap over tasks or over families (forms in their order), whichever is wider; differences are paired by task.',
  'Calls: tool calls that ran. Errors: calls that failed. Both are given for solved episodes and for all.',
  'Rows of a seed begin with the same model and differ in what they say alone. Controls are evaluated by themselves, in `workspace` with room for its deepest questions (1,536 tokens, 24 turns), and no evaluation is in their seconds.',
];

const seenText = ({ seed, overlap }: SeedControls): string =>
  `Seen: how many tasks of the evaluation share this with a task that seed ${seed} trained on${
    overlap?.warmUp
      ? ", or with the conversations in the file that the warm-up's run file names, which belong to the starter made last"
      : ''
  }. Up to names: with words that are rare in prompts left out. Forms and pairs: all of a task's.`;

/** What each row means that the results have. */
export function legend(results: readonly SeedControls[]): string[] {
  const made = controlNames.filter((name) => results.some(({ controls }) => controls[name]));
  const starters = results.flatMap(({ seed, starter }) =>
    starter === null ? [] : [`seed ${seed} from \`${starter}\``],
  );
  const compared = results.find(({ overlap }) => overlap !== null);
  return [
    ...general,
    ...(starters.length === 0
      ? []
      : [`Each seed has a starter of its own, warm-up included: ${starters.join(', ')}.`]),
    ...(compared === undefined ? [] : [seenText(compared)]),
    ...made.map((name) => `${controlTitles[name].replaceAll('*', '')}: ${sentences[name]}`),
  ].map((text) => `- ${text}`);
}
