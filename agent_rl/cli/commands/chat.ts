import { existsSync } from 'node:fs';

import type { Command } from '../command.ts';
import { optionsWithout, refuseBoth, renamedModelFlags } from '../flags/config-flags.ts';
import { textFlag, textOf } from '../flags/flag.ts';
import { writeJson } from '../io.ts';
import { configFor, prepare } from '../prepare.ts';

const unused = [
  'dataset-dir',
  'train-split',
  'eval-split',
  'preview-tasks',
  'async-rollout-workers',
  'output',
  'max-iterations',
  'log-rollouts',
];

/** `chat PROMPT [CHECKPOINT]` as it was before a chat was a conversation. */
function wordsOfToday(words: string[], flags: string[]): string[] | undefined {
  const [prompt = '', checkpoint] = words;
  if (words.length === 2) return ['--prompt', prompt, checkpoint ?? ''];
  const isFolder = existsSync(prompt) || /^[^\s]*[/\\][^\s]*$/.test(prompt);
  if (words.length !== 1 || isFolder || flags.includes('--prompt')) return undefined;
  return ['--prompt', prompt];
}

export const chat: Command = {
  name: 'chat [checkpoint]',
  describe: 'Talk to an agent, which has the tools of its run file',
  examples: [
    ['runs/my-run', 'A conversation with the newest checkpoint of a run'],
    ['--config my_run.yaml --model Qwen/Qwen3-0.6B', 'A conversation with another model'],
    [
      'runs/my-run --prompt "What is 2 + 2?"',
      'One message, and the tokens of all that was written',
    ],
  ],
  positionals: {
    checkpoint: {
      type: 'string',
      describe: 'Run folder or checkpoint; the model of the run file otherwise',
    },
  },
  options: {
    prompt: textFlag(
      'Say this alone, and show the transcript by where its tokens came from; without it, each line of the standard input is said: /reset, /exit',
    ),
    color: { type: 'boolean', describe: 'Colours; by default when stdout is a terminal' },
    ...optionsWithout(unused),
  },
  renamed: renamedModelFlags,
  wordsOfToday,
  run: async (parsed, { io, jobs }) => {
    const { checkpoint, color } = parsed;
    refuseBoth(parsed, 'checkpoint', 'model');
    const prompt = textOf(parsed, 'prompt');
    const json = parsed['json'] === true;
    const job = await prepare(parsed, io, { otherwise: configFor(checkpoint, parsed) });
    // Late: only a conversation reads lines.
    const { askLines } = await import('../ask-lines.ts');
    const lines = prompt === undefined ? askLines(io, json) : undefined;
    try {
      const result = await jobs.chat({
        ...job,
        ...(prompt !== undefined && { prompt }),
        ...(lines !== undefined && { ask: () => lines.next() }),
        color: typeof color === 'boolean' ? color : io.stdout.isTTY === true,
        ...(typeof checkpoint === 'string' ? { checkpoint } : {}),
      });
      if (json) writeJson(io, result);
    } finally {
      lines?.close();
    }
    return 0;
  },
};
