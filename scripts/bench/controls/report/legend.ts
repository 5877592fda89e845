import { type ControlName, controlNames, controlTitles } from '../control.ts';
import type { SeedControls } from '../controls-of-seed.ts';

const equalSeconds = "for as many processor seconds as the run's training takes";

const sentences: Readonly<Record<ControlName, string>> = {
  before: 'the model that the run starts from.',
  after: 'the run.',
  'pass-before':
    'pass@k, the chance that one of k attempts of the model before the run succeeds, sampled at temperature 1: what there is for RL to find.',
  'more-warm-up': `the model before the run, with supervised training on fresh conversations of the same unreliable teacher, ${equalSeconds}.`,
  'right-demonstrations': `the same with a teacher that makes no mistakes, ${equalSeconds}: in \`workspace\` on the tasks that the run draws and would draw next, in \`code_exec\` on the references of such tasks, in \`search\` on fresh questions with the names and kinds of the warm-up.`,
  'rejection-sampling': `the model before the run samples training tasks and learns from the attempts that the run's judge finds right, repeatedly, ${equalSeconds}.`,
  'rl-from-right-demonstrations':
    'the run again, from the model that right demonstrations made; its seconds are added to theirs.',
  'rl-priced-from-right-demonstrations':
    'the same with a price for each call and each error, which demonstrations do not lower.',
  'shuffled-rewards': 'the run with the rewards of each group shuffled.',
  'blank-output': 'the run with empty tool results: programs run, but the agent sees no output.',
  'tool-unavailable': 'the run with a tool that answers every call with an error.',
  'lying-output':
    'the run with programs that run in another world of the same names, so that their output is consistent and wrong: how often the answer is right anyway, and how often it is the answer of the other world.',
  'table-without-model':
    'for each family of tasks the constant answer that earned most in training. It cannot be right if evaluation and training share no answers.',
};

const general = [
  'Greedy unless stated otherwise. Brackets are 95 % intervals by cluster bootstrap over tasks or over families (forms in their order), whichever is wider; differences are paired by task.',
  'Calls: tool calls that ran. Errors: calls that failed. Both are given for solved episodes and for all.',
  'Rows of a seed start from the same model and differ only in what they name. Controls are evaluated separately, in `workspace` with room for its deepest questions (1,536 tokens, 24 turns), and their seconds include no evaluation.',
];

const seenText = ({ seed, overlap }: SeedControls): string =>
  `Seen: the share of evaluation tasks that have this in common with a task that seed ${seed} trained on${
    overlap?.warmUp
      ? ", or with the conversations in the file that the warm-up's run file names, which belong to the starter made last"
      : ''
  }. Up to names: without words that are rare in prompts. Forms and pairs: all of a task's.`;

/** Explains each row that the results have. */
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
