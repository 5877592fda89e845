import { resolve } from 'node:path';

import { Type, type Static } from '../../core/typebox.ts';
import { generator } from '../../core/plugins/model/generator.ts';
import { RecordedTurns } from './recorded-turns.ts';
import { ReplayGenerator } from './replay-generator.ts';

const ReplaySettings = Type.Object({
  run: Type.String({
    description: 'Folder of the recorded run to replay.',
    minLength: 1,
    path: 'file',
  }),
});

/** Gives a run the tokens that an earlier one drew. @throws AgentRlError of a folder that holds none */
export const replayGenerator = generator({
  name: 'replay',
  description:
    'Replays the tokens of a recorded run instead of sampling new ones. Use it to repeat the run, or to train on the first episodes of the run with other rewards or another learner.',
  settings: ReplaySettings,
})(async ({ run }: Static<typeof ReplaySettings>, { maxContextTokens, warn }) => {
  warn(
    `All tokens, including evaluations, come from ${run}, so the evaluations say nothing about the weights of this run.`,
  );
  const turns = await RecordedTurns.read(resolve(run));
  return new ReplayGenerator({ run, turns, maxContextTokens });
});
