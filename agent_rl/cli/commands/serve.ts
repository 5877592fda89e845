import { AgentRlError } from '../../core/errors.ts';
import { command } from '../command.ts';
import { optionsOfUse, refuseBoth } from '../flags/config-flags.ts';
import { choiceFlag, numberFlag, switchFlag, textFlag } from '../flags/flag.ts';
import { configFor, prepare } from '../prepare.ts';
import { checkpointWord, policyFlag } from './eval.ts';

/** The flags that only a served model has, as they are where they are not given. */
const ofModel = {
  host: '127.0.0.1',
  port: 8000,
  apiKeyEnv: undefined,
  name: undefined,
  policy: undefined,
  answers: 8,
  requests: 256,
  acceptWeights: false,
  unsupported: 'refuse',
  timeout: 600,
} as const;

type FlagsOfModel = Readonly<Partial<Record<keyof typeof ofModel, unknown>>>;

function refuseFlagsOfModel(given: FlagsOfModel, flag: string): void {
  const names = Object.keys(ofModel) as (keyof typeof ofModel)[];
  const idle = names.find((name) => given[name] !== ofModel[name]);
  if (idle === undefined) return;
  const named = idle.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new AgentRlError(
    'CONFIG_INVALID',
    `--${named} has no effect with ${flag}. Remove one of the two.`,
  );
}

const clientsBring = () => 'clients send their tools with each request.';

export const serve = command({
  name: 'serve [checkpoint]',
  describe:
    'Serve a model over an OpenAI-compatible API, the tools of a run file over MCP, or its environment over OpenEnv',
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
    [
      '--env --config configs/search_qa_grpo.yaml',
      'Offer the environment of that run file, with its tasks and tools, to clients of OpenEnv',
    ],
  ],
  positionals: { checkpoint: checkpointWord },
  flags: {
    port: numberFlag(
      'Port; 0 takes a free one',
      { from: 0, to: 65_535, whole: true },
      ofModel.port,
    ),
    host: textFlag('Address to listen on', ofModel.host),
    'api-key-env': textFlag('Environment variable with the key that clients must send'),
    policy: policyFlag,
    name: textFlag("Model name for clients (default: the folder's name)"),
    answers: numberFlag(
      'Answers to generate in parallel',
      { from: 1, to: 4096, whole: true },
      ofModel.answers,
    ),
    requests: numberFlag(
      'Maximum running and queued requests, or with --env sessions; further ones are refused',
      { from: 1, to: 65_536, whole: true },
      ofModel.requests,
    ),
    'accept-weights': switchFlag('Let a training run replace the weights (generator.type: served)'),
    unsupported: choiceFlag<'refuse' | 'ignore'>(
      'Handling of unsupported requests, such as response_format or another model name',
      ['refuse', 'ignore'],
      ofModel.unsupported,
    ),
    mcp: switchFlag(
      'Serve the tools of the run file over MCP on standard input and output, not the model',
    ),
    env: switchFlag(
      "Serve the run file's environment in OpenEnv's protocol over WebSockets, not the model",
    ),
    timeout: numberFlag(
      'Timeout of an answer, or with --env of a silent session, in seconds',
      { from: 1, to: 86_400 },
      ofModel.timeout,
    ),
  },
  settings: optionsOfUse(),
  run: async ({ timeout: timeoutS, mcp, env, ...flags }, running) => {
    refuseBoth(running.parsed, 'checkpoint', 'model');
    if (mcp && env)
      throw new AgentRlError('CONFIG_INVALID', '--mcp and --env exclude each other. Give one.');
    if (mcp) {
      refuseFlagsOfModel({ ...flags, timeout: timeoutS }, '--mcp');
      // Standard output is the client's.
      const print = (text: string) => void running.io.stderr.write(`${text}\n`);
      const quiet = { ...running, job: { ...running.job, print } };
      const file = configFor(flags.checkpoint, quiet);
      return running.jobs.serveTools(await prepare(quiet, { file, needs: 'agent' }));
    }
    const file = configFor(flags.checkpoint, running);
    if (env) {
      const { host, port, apiKeyEnv, requests, ...others } = flags;
      refuseFlagsOfModel({ ...ofModel, ...others }, '--env');
      const address = { host, port, requests, timeoutS, ...(apiKeyEnv && { apiKeyEnv }) };
      return running.jobs.serveEnvironment({
        ...(await prepare(running, { file, needs: 'all' })),
        ...address,
      });
    }
    return running.jobs.serveModel({
      ...(await prepare(running, { file, needs: 'model', instead: clientsBring })),
      ...flags,
      timeoutS,
    });
  },
});
