import { resolve } from 'node:path';

import { Type, type Static } from 'typebox';

import { generator } from '../../core/plugins/model/generator.ts';
import { RecordedTurns } from './recorded-turns.ts';
import { ReplayGenerator } from './replay-generator.ts';

const ReplaySettings = Type.Object({
  run: Type.String({
    description: 'Folder of the run that drew the tokens.',
    minLength: 1,
    path: 'file',
  }),
});

/** Gives a run the tokens that an earlier one drew. @throws AgentRlError of a folder that holds none */
export const replayGenerator = generator({
  name: 'replay',
  description:
    'Gives the tokens that a run recorded and draws none: the same run again, or what its first episodes teach under other rewards or another learner.',
  settings: ReplaySettings,
})(async ({ run }: Static<typeof ReplaySettings>, { maxContextTokens, warn }) => {
  warn(
    `Tokens are those of ${run}, and so are the evaluations: they say nothing of other weights.`,
  );
  const turns = await RecordedTurns.read(resolve(run));
  return new ReplayGenerator({ run, turns, maxContextTokens });
});
