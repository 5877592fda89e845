import { command } from '../command.ts';
import { optionsWithout, refuseBoth } from '../flags/config-flags.ts';
import { choiceFlag, numberFlag, switchFlag, textFlag } from '../flags/flag.ts';
import { configFor, prepare } from '../prepare.ts';
import { checkpointWord } from './eval.ts';

const clientsBring = () => 'clients send their tools with each request.';

export const serve = command({
  name: 'serve [checkpoint]',
  describe: 'Serve a model over an OpenAI-compatible API, or the tools of a run file over MCP',
  examples: [
    ['runs/my-run', 'Serve the newest checkpoint of a run to this machine only'],
    ['--model model/starter --port 0', 'Serve a model folder on any free port'],
    [
      'runs/my-run --host 0.0.0.0 --api-key-env SERVE_KEY',
      'Accept requests from other machines that send the key stored in SERVE_KEY',
    ],
    [
      '--mcp --config configs/search_qa_grpo.yaml',
      'Offer the tools of that run file to an MCP client, over standard input and output',
    ],
  ],
  positionals: { checkpoint: checkpointWord },
  flags: {
    port: numberFlag('Port; 0 takes a free one', { from: 0, to: 65_535, whole: true }, 8000),
    host: textFlag('Address to listen on', '127.0.0.1'),
    'api-key-env': textFlag('Environment variable with the key that clients must send'),
    name: textFlag("Model name for clients (default: the folder's name)"),
    answers: numberFlag('Answers to generate in parallel', { from: 1, to: 4096, whole: true }, 8),
    requests: numberFlag(
      'Maximum running and queued requests; further ones receive status 503',
      { from: 1, to: 65_536, whole: true },
      256,
    ),
    'accept-weights': switchFlag('Let a training run replace the weights (generator.type: served)'),
    unsupported: choiceFlag<'refuse' | 'ignore'>(
      'Handling of unsupported requests, such as response_format or another model name',
      ['refuse', 'ignore'],
      'refuse',
    ),
    mcp: switchFlag(
      'Serve the tools of the run file over MCP on standard input and output, not the model',
    ),
    timeout: numberFlag('Timeout of an answer, in seconds', { from: 1, to: 86_400 }, 600),
  },
  settings: optionsWithout([
    'train-split',
    'eval-split',
    'preview-tasks',
    'output',
    'max-iterations',
    'log-rollouts',
  ]),
  run: async ({ timeout: timeoutS, mcp, ...flags }, running) => {
    refuseBoth(running.parsed, 'checkpoint', 'model');
    if (mcp) {
      // Standard output is the client's.
      const print = (text: string) => void running.io.stderr.write(`${text}\n`);
      const quiet = { ...running, job: { ...running.job, print } };
      const file = configFor(flags.checkpoint, quiet);
      return running.jobs.serveTools(await prepare(quiet, { file, needs: 'agent' }));
    }
    const file = configFor(flags.checkpoint, running);
    return running.jobs.serveModel({
      ...(await prepare(running, { file, needs: 'model', instead: clientsBring })),
      ...flags,
      timeoutS,
    });
  },
});
