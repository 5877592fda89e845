import type { ProgramPlugin } from '../../config/index.ts';
import { command } from '../command.ts';
import { optionsOfUse, refuseBoth } from '../flags/config-flags.ts';
import { type Flag, textFlag } from '../flags/flag.ts';
import { printer } from '../io.ts';
import { configFor, prepare } from '../prepare.ts';
import { checkpointWord, policyFlag } from './eval.ts';

const color: Flag<boolean | undefined> = {
  option: { type: 'boolean', describe: 'Colour the output (default: when stdout is a terminal)' },
  read: (given) => (typeof given === 'boolean' ? given : undefined),
};

export const chat = command({
  name: 'chat [checkpoint]',
  describe: 'Talk to an agent, which can call the tools of its run file',
  usage: '[--config FILE]',
  examples: [
    ['runs/my-run', 'Talk to the newest checkpoint of a run'],
    ['--config my_run.yaml --model Qwen/Qwen3-0.6B', 'Talk to another model'],
    [
      'runs/my-run --prompt "What is 2 + 2?"',
      'Send one message and show every token of the transcript',
    ],
  ],
  positionals: { checkpoint: checkpointWord },
  flags: {
    prompt: textFlag(
      'Send this message and show the transcript, with each token coloured by its source. Without --prompt, chat sends each line of standard input; /reset and /exit are commands',
    ),
    policy: policyFlag,
    color,
  },
  settings: optionsOfUse('dataset-dir', 'async-rollout-workers'),
  run: async ({ color: isColored, ...flags }, running) => {
    const { io, jobs, parsed } = running;
    refuseBoth(parsed, 'checkpoint', 'model');
    const file = configFor(flags.checkpoint, running);
    // Late, so that `--help` does not load every kind of plugin.
    const { callInstead } = await import('../../jobs/code/call-instead.ts');
    const load = callInstead.load(flags.checkpoint ?? file);
    const instead = (missing: readonly ProgramPlugin[]) =>
      `the agent runs without it. ${load(missing)}`;
    const job = await prepare(running, { file, needs: 'model', instead });
    const shown = isColored ?? io.stdout.isTTY === true;
    const isJson = parsed['json'] === true;
    const options = {
      ...job,
      ...flags,
      color: shown,
      print: printer(io, isJson, { colored: shown }),
    };
    if (flags.prompt !== undefined) return jobs.chat(options);
    // Late: only a conversation reads lines.
    const { askLines } = await import('../ask-lines.ts');
    const lines = askLines(io, isJson);
    try {
      return await jobs.chat({ ...options, ask: () => lines.next() });
    } finally {
      lines.close();
    }
  },
});
