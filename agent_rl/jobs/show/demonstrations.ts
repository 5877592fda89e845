import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';
import {
  type EpisodeRecord,
  episodesOf,
  runWithEpisodes,
} from '../../runs/episodes/read-episodes.ts';
import { partText } from '../../runs/query/parts.ts';
import type { RunFolder } from '../../runs/run-folder.ts';
import {
  type Conversation,
  conversationLine,
} from '../../../dataset/demonstrations/conversations.ts';
import { countText } from '../../telemetry/figures.ts';
import type { JobResult } from '../job.ts';
import { refuseExisting, writingFresh } from '../token-files/fresh-lines.ts';
import { readToolFile } from '../token-files/tool-file.ts';

export interface DemonstrationsOptions {
  /** Folder of a run. */
  run: string;
  /** Only episodes that succeeded. */
  success?: boolean;
  /** Only episodes with this reward or more. */
  minReward?: number;
  /** Only episodes of this iteration. */
  step?: number;
  /** At most this many of a task, by the highest reward. */
  perTask?: number;
  /** New JSONL file; `demonstrations/train.jsonl` in the run's folder by default. */
  output?: string;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  print: (text: string) => void;
}

/** Why episodes are left out, in the order that is asked. */
const reasons = {
  failed: 'failed and were not scored',
  noTurn: 'have no turn by the policy',
  unsuccessful: 'did not succeed (--success)',
  lowReward: 'have a lower reward (--min-reward)',
  cutOff: 'end in a truncated turn',
  malformedCalls: 'have malformed tool calls',
  duplicates: 'are duplicates',
  beyondPerTask: 'are beyond the best of their task (--per-task)',
} as const;

type Reason = keyof typeof reasons;

/**
 * Writes what a policy did well in training as conversations that `agent-rl sft` imitates, with the tools it had:
 * rejection sampling, or expert iteration. Held-out episodes are never among them.
 *
 * @throws AgentRlError `CONFIG_INVALID` without a choice, or when it leaves nothing; `CHECKPOINT_INVALID` when there is
 * no run; `OUTPUT_UNWRITABLE`
 */
export async function demonstrations(options: DemonstrationsOptions): Promise<JobResult> {
  const { run, success = false, minReward, print } = options;
  if (!success && minReward === undefined)
    throw new AgentRlError(
      'CONFIG_INVALID',
      'Choose which episodes to take: give --success, --min-reward NUMBER, or both.',
    );
  const folder = runWithEpisodes(run);
  const output = resolve(options.output ?? join(folder.path, 'demonstrations', 'train.jsonl'));
  refuseExisting(output);
  const tools = toolsOf(folder);
  const choice = await choose(folder, tools, options);
  const report = leftOutText(choice);
  if (choice.chosen.size === 0)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `${folder.path} has no such ${choice.unit}s: ${report}`,
    );
  await writingFresh(output, async (write) => {
    for await (const episode of trained(folder))
      if (choice.chosen.has(partText(episode)))
        write(conversationLine({ ...episode, tools }, provenance(folder, episode)));
  });
  const { episodes, tasks, leftOut } = choice;
  const { size: written } = choice.chosen;
  print(`${countText(written, 'demonstration')} of ${countText(tasks, 'task')}: ${output}`);
  print(report);
  print(nextCommand(folder, output));
  return { output, episodes, demonstrations: written, tasks, leftOut };
}

/** What the policy of a run could call. */
function toolsOf({ path, tools }: RunFolder): Conversation['tools'] {
  if (existsSync(tools)) return readToolFile(tools, tools);
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `${path} has no tools.json, which lists the tools of its policy. Restore it, or write a list of tools in the OpenAI format there.`,
  );
}

interface Choice {
  /** Episodes that were asked; parts of them where several agents play. */
  episodes: number;
  unit: 'episode' | 'part';
  /** What the chosen ones are called. */
  chosen: ReadonlySet<string>;
  /** Tasks of the chosen ones. */
  tasks: number;
  leftOut: Readonly<Record<Reason, number>>;
}

interface Candidate extends Pick<EpisodeRecord, 'taskId' | 'agent'> {
  name: string;
  reward: number;
}

/** Reads all episodes and holds none of them: an episode may be long. */
async function choose(
  folder: RunFolder,
  tools: Conversation['tools'],
  options: DemonstrationsOptions,
): Promise<Choice> {
  const leftOut = Object.fromEntries(Object.keys(reasons).map((reason) => [reason, 0])) as Record<
    Reason,
    number
  >;
  const seen = new Set<string>();
  const candidates: Candidate[] = [];
  let episodes = 0;
  const agents = new Set<string>();
  for await (const episode of trained(folder)) {
    if (options.step !== undefined && episode.iteration !== options.step) continue;
    episodes += 1;
    agents.add(episode.agent);
    const reason = reasonAgainst(episode, options);
    if (reason !== undefined) {
      leftOut[reason] += 1;
      continue;
    }
    const { taskId, agent } = episode;
    const line = conversationLine({ ...episode, tools });
    const digest = createHash('sha256').update(line).digest('base64');
    if (seen.has(digest)) leftOut.duplicates += 1;
    // Without a reward it failed, and is left out.
    else candidates.push({ name: partText(episode), taskId, agent, reward: episode.reward ?? 0 });
    seen.add(digest);
  }
  const kept = bestOf(candidates, options.perTask);
  leftOut.beyondPerTask = candidates.length - kept.length;
  const tasks = new Set(kept.map(({ taskId }) => taskId)).size;
  const unit = agents.size > 1 ? 'part' : 'episode';
  return { episodes, unit, chosen: new Set(kept.map(({ name }) => name)), tasks, leftOut };
}

function reasonAgainst(
  { reward, success, outcome, messages, malformedCalls }: EpisodeRecord,
  { success: solved = false, minReward = -Infinity }: DemonstrationsOptions,
): Reason | undefined {
  if (reward === null) return 'failed';
  if (!messages.some(({ role }) => role === 'assistant')) return 'noTurn';
  if (solved && !success) return 'unsuccessful';
  if (reward < minReward) return 'lowReward';
  if (outcome === 'truncated-tokens') return 'cutOff';
  return malformedCalls > 0 ? 'malformedCalls' : undefined;
}

/** Of each task, and of each agent in it, the `most` with the highest reward, of equals the first. */
function bestOf(candidates: readonly Candidate[], most = Infinity): readonly Candidate[] {
  const ofTask = new Map<string, number>();
  return candidates
    .toSorted((a, b) => b.reward - a.reward)
    .filter(({ taskId, agent }) => {
      const key = JSON.stringify([taskId, agent]);
      const before = ofTask.get(key) ?? 0;
      ofTask.set(key, before + 1);
      return before < most;
    });
}

const provenance = ({ name }: RunFolder, episode: EpisodeRecord) => ({
  run: name,
  episode: partText(episode),
  reward: episode.reward,
});

function leftOutText({ episodes, unit, chosen, leftOut }: Choice): string {
  const counted = (Object.keys(reasons) as Reason[])
    .filter((reason) => leftOut[reason] > 0)
    .map((reason) => `\n  ${leftOut[reason]} ${reasons[reason]}`);
  const left = episodes - chosen.size;
  if (left === 0) return `All ${countText(episodes, unit)} were taken.`;
  return `${left} of ${episodes} training ${unit}s were left out:${counted.join('')}`;
}

function nextCommand({ config }: RunFolder, output: string): string {
  const name = basename(output);
  if (!name.endsWith('.jsonl')) return 'agent-rl sft reads only files whose names end in .jsonl.';
  const split = basename(name, '.jsonl');
  return `To train on them: agent-rl sft --config ${config} --dataset-dir ${dirname(output)} --train-split ${split}`;
}

/**
 * The training episodes of a run.
 *
 * @yields one part
 */
async function* trained(folder: RunFolder): AsyncGenerator<EpisodeRecord> {
  for await (const parts of episodesOf(folder, { file: 'train' }))
    for (const { episode } of parts) yield episode;
}
