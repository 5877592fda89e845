import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { startProgram } from './built-program.ts';

const smoke = join(packageRoot(), 'configs', 'code_exec_smoke.yaml');

/** Starts to train a small run of this name in `FOLDER/runs`, with settings of its own. */
export const startTraining = (folder: string, name: string, ...settings: readonly string[]) =>
  startProgram('agent-rl', ['train', '--config', smoke, ...setting(name, settings)], folder);

const setting = (name: string, more: readonly string[]) =>
  [`run.name=${name}`, 'eval.maxTasks=2', ...more].flatMap((one) => ['--set', one]);

/** What a model might write to take over what shows it. */
export const hostile = {
  markup: `<img src=x onerror="globalThis.taken = 'img'"><script>globalThis.taken = 'script'</script>`,
  escapes: '\u001b[2J\u001b]0;taken\u0007',
  turned: 'safe\u202etxt.exe',
  long: 10_000_000,
  name: `"><img src=x onerror="globalThis.taken = 'name'">`,
} as const;

/** Copies a run and puts hostile text into its episodes: the first shows markup, the second 10 MB, the third broken UTF-8. */
export function writeHostileRun(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  const file = join(to, 'trajectories', 'train.jsonl');
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const shown = `${hostile.markup}${hostile.escapes}${hostile.turned}`;
  const said = [shown, 'x'.repeat(hostile.long), 'broken'];
  const written = lines.map((line, at) => {
    const text = said[at];
    return text === undefined ? Buffer.from(line) : hostileLine(line, text);
  });
  writeFileSync(file, Buffer.concat(written.flatMap((line) => [line, Buffer.from('\n')])));
}

/** Bytes that are no UTF-8, after the word. */
const brokenWord = Buffer.concat([Buffer.from('broken'), Buffer.from([0xff, 0xfe, 0xc3])]);

function hostileLine(line: string, text: string): Buffer {
  const episode = JSON.parse(line) as { messages: { role: string; content: string }[] };
  const messages = episode.messages.map((message) => ({ ...message, content: text }));
  const parts = JSON.stringify({ ...episode, taskId: hostile.name, messages }).split('broken');
  return Buffer.concat(
    parts.flatMap((part, at) => (at === 0 ? [] : [brokenWord]).concat(Buffer.from(part))),
  );
}
