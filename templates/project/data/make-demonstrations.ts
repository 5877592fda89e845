import { KeyedRng } from 'agent_rl/plugin';

import { demonstrate } from './demonstrate.ts';
import { questionsOf } from './questions.ts';
import { writeLines } from './write-lines.ts';

/*
 * Writes tasks/demonstrations.jsonl: one conversation a line. With --careful, tasks/careful-demonstrations.jsonl:
 * the same questions without a mistake.
 */

const careful = process.argv.includes('--careful');
const made = questionsOf('demonstrations', 2400).map((question, index) =>
  demonstrate(question, new KeyedRng('demonstration', index), careful),
);
await writeLines(
  `tasks/${careful ? 'careful-demonstrations' : 'demonstrations'}.jsonl`,
  made.map(({ messages }) => ({ messages })),
);
const right = made.filter((one) => one.right).length;
process.stdout.write(`right: ${((100 * right) / made.length).toFixed(1)} %\n`);
