import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { Rollout } from '#agent_rl/core/rollout.ts';
import type { NumberedEvent } from '#agent_rl/runs/journal/event-frame.ts';
import { openSegment } from '#agent_rl/runs/journal/segments.ts';
import { startProgram } from './built-program.ts';
import { brokenFrame, eventsOf } from './journal.ts';

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

/** Copies a run and puts hostile text into its training episodes: the first shows markup, the second 10 MB, the third broken UTF-8. */
export async function writeHostileRun(from: string, to: string): Promise<void> {
  const events = await eventsOf(from);
  cpSync(from, to, { recursive: true });
  const journal = join(to, 'journal');
  rmSync(journal, { recursive: true });
  mkdirSync(journal);
  const shown = `${hostile.markup}${hostile.escapes}${hostile.turned}`;
  const said = [shown, 'x'.repeat(hostile.long), 'broken@@'];
  const inOrder = events
    .filter(({ type, when }) => type === 'rollout' && when === 'train')
    .toSorted((a, b) => place(a).localeCompare(place(b), 'en', { numeric: true }));
  const hostileEvents = events.map((event) => {
    const text = said[inOrder.indexOf(event)];
    return text === undefined ? event : hostileRollout(event, text);
  });
  writeFileSync(openSegment(journal, 0).file, Buffer.concat(hostileEvents.map(brokenFrame)));
}

const place = ({ iteration, round, slot, sample }: NumberedEvent): string =>
  [iteration, round, slot, sample].join('/');

function hostileRollout(event: NumberedEvent, text: string): NumberedEvent {
  const data = event.data as unknown as Rollout;
  const parts = data.parts.map((part) => ({
    ...part,
    messages: part.messages.map((message) => ({ ...message, content: text })),
  }));
  return { ...event, data: { ...data, taskId: hostile.name, parts } };
}
