import { command } from '../command.ts';
import { optionsWithout, refuseBoth } from '../flags/config-flags.ts';
import { choiceFlag, numberFlag, switchFlag, textFlag } from '../flags/flag.ts';
import { configFor, prepare } from '../prepare.ts';
import { checkpointWord } from './eval.ts';

const clientsBring = () => 'clients send their tools with each request.';

export const serve = command({
  name: 'serve [checkpoint]',
  describe: 'Serve a trained agent to clients of the OpenAI API',
  examples: [
    ['runs/my-run', 'The newest checkpoint of a run, to this machine alone'],
    ['--model model/starter --port 0', 'A model folder, at any free port'],
    [
      'runs/my-run --host 0.0.0.0 --api-key-env SERVE_KEY',
      'To any machine that sends the key in the variable SERVE_KEY',
    ],
  ],
  positionals: { checkpoint: checkpointWord },
  flags: {
    port: numberFlag('Port; 0 takes a free one', { from: 0, to: 65_535, whole: true }, 8000),
    host: textFlag('Address to listen on', '127.0.0.1'),
    'api-key-env': textFlag('Environment variable that holds the key clients must send'),
    name: textFlag("What clients call the model; its folder's name otherwise"),
    answers: numberFlag('Answers sampled at once', { from: 1, to: 4096, whole: true }, 8),
    requests: numberFlag(
      'Requests under way and waiting; others are asked to come back',
      { from: 1, to: 65_536, whole: true },
      256,
    ),
    'accept-weights': switchFlag('Let a training replace the weights: generator.type served'),
    unsupported: choiceFlag<'refuse' | 'ignore'>(
      'A request for what the model cannot do, such as response_format, or for another model',
      ['refuse', 'ignore'],
      'refuse',
    ),
    timeout: numberFlag('Seconds that an answer may take', { from: 1, to: 86_400 }, 600),
  },
  settings: optionsWithout([
    'train-split',
    'eval-split',
    'preview-tasks',
    'output',
    'max-iterations',
    'log-rollouts',
  ]),
  run: async ({ timeout: timeoutS, ...flags }, running) => {
    refuseBoth(running.parsed, 'checkpoint', 'model');
    const file = configFor(flags.checkpoint, running);
    return running.jobs.serveModel({
      ...(await prepare(running, { file, needs: 'model', instead: clientsBring })),
      ...flags,
      timeoutS,
    });
  },
});
