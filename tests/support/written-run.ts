import { join } from 'node:path';

import { type Message, user } from '#agent_rl/core/message.ts';
import type { ExecutedCall } from '#agent_rl/core/plugins/environment.ts';
import type { Member, RolloutKey } from '#agent_rl/core/rollout.ts';
import { MetricsWriter, type Metrics } from '#agent_rl/telemetry/index.ts';
import { rolloutsOfMembers, writeJournal } from './journal.ts';
import { writeBelow } from './temporary-folder.ts';
import { member } from './rollouts.ts';

/** Files of a run's folder. What is absent is not written. */
export interface WrittenRun {
  /** YAML. */
  config?: string;
  inputs?: object;
  summary?: object;
  /** Of iterations 1, 2, … */
  metrics?: readonly Metrics[];
  log?: string;
  train?: readonly WrittenEpisode[];
  evaluation?: readonly WrittenEpisode[];
}

type WrittenEpisode = Partial<RolloutKey> & { episode: Member };

/** Writes the folder of a run as a run does. @returns its path */
export function writeRun(parent: string, name: string, run: WrittenRun): string {
  const folder = join(parent, name);
  writeBelow(folder, 'config.yaml', run.config ?? 'run: {seed: 7}\n');
  for (const part of ['inputs', 'summary'] as const)
    if (run[part] !== undefined) writeBelow(folder, `${part}.json`, JSON.stringify(run[part]));
  if (run.log !== undefined) writeBelow(folder, 'run.log', run.log);
  if (run.metrics !== undefined) {
    const metrics = new MetricsWriter(join(folder, 'metrics.jsonl'));
    for (const [index, values] of run.metrics.entries()) metrics.write(index + 1, values);
    metrics.close();
  }
  const named =
    (when: RolloutKey['when']) =>
    ({ episode: { rollout, part }, ...key }: WrittenEpisode, slot: number): Member => ({
      rollout: { ...rollout, key: { ...rollout.key, run: name, when, slot, ...key } },
      part,
    });
  const { train = [], evaluation = [] } = run;
  const members = [...train.map(named('train')), ...evaluation.map(named('during'))];
  writeJournal(folder, { rollouts: rolloutsOfMembers(members) });
  return folder;
}

interface ToldEpisode {
  taskId: string;
  success: boolean;
  question?: string;
  thought?: string;
  answer?: string;
  /** What the tool `run` was given and said, and whether it failed. */
  calls?: readonly { code: string; output: string; failed?: boolean }[];
}

/** An episode that asks the tool `run` and then answers. */
export function toldEpisode(told: ToldEpisode): Member {
  const { taskId, success, question = 'How many?', thought, answer = 'Two.', calls = [] } = told;
  const executed = calls.map(({ code, output, failed = false }, index): ExecutedCall => ({
    call: { id: `call_${index}_0`, name: 'run', arguments: { code } },
    status: failed ? 'error' : 'ok',
    result: { content: output, isError: failed },
    wallMs: 1,
  }));
  const assistant = (content: string) => ({ role: 'assistant', content }) as const;
  const asked = executed.flatMap(({ call, result }): Message[] => [
    { ...assistant(''), toolCalls: [call] },
    { role: 'tool', name: 'run', callId: call.id, content: result.content },
  ]);
  const answered = { ...assistant(answer), ...(thought && { reasoning: thought }) };
  return member({
    taskId,
    success,
    reward: success ? 1 : 0,
    outcome: success ? 'completed' : 'wrong-answer',
    messages: [user(question), ...asked, answered],
    calls: executed,
  });
}
