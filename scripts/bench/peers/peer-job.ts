import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { packageRoot } from '../../../agent_rl/core/package-root.ts';
import { loadConfig } from '../../../agent_rl/config/load-config.ts';
import { trainRow } from '../../../dataset/arithmetic_tasks/generator/rows.ts';
import type { NewAdapter } from '../../../model/weights/open-model.ts';
import { namesOf } from '../bench-run.ts';
import { type PeerNeeds, programOutput } from '../peers.ts';
import { benchAdapter } from '../model-shape/shape.ts';

/** What ours and TRL train alike. */
export interface PeerJob {
  config: string;
  /** Folder of the model that both start from. */
  model: string;
  /** Groups of an iteration, and attempts in each. */
  tasks: number;
  group: number;
  /** The adapter that is trained; without one the whole model is. */
  newAdapter?: NewAdapter;
  /** What `trl_iteration.py` calls its tool and judge. */
  environment: 'calculator' | 'code';
  /** What an episode has room for behind its prompt: TRL counts it without. */
  completionTokens: number;
  /** Put before every question. */
  system?: string | undefined;
}

/** SmolLM2-135M with an adapter and a calculator, after its supervised training; or the starter on the code tasks. */
export const peerJobs = {
  smollm2: {
    config: 'configs/recipes/smollm2_calculator_grpo.yaml',
    model: 'runs/smollm2/seed-1/taught',
    tasks: 4,
    group: 8,
    newAdapter: { ...benchAdapter, seed: 1 },
    environment: 'calculator',
    completionTokens: 250,
  },
  'code-tasks': {
    config: 'configs/code_exec_grpo.yaml',
    model: 'model/starter',
    tasks: 24,
    group: 8,
    environment: 'code',
    completionTokens: 366,
  },
} as const satisfies Record<string, PeerJob>;

/** @throws TypeError for another name */
export const jobNamed = (name: string): PeerJob & { name: string } => {
  const [known] = [...namesOf('job', name, Object.keys(peerJobs))];
  return { name, ...peerJobs[known as keyof typeof peerJobs] };
};

/** @throws Error where the folder of a job's model is not there */
export function requireModel({ model }: PeerJob): void {
  if (existsSync(path.join(model, 'config.json'))) return;
  throw new Error(
    `${model} holds no model. Name one with --model FOLDER; "npm run recipe:smollm2" makes ${peerJobs.smollm2.model}.`,
  );
}

/** What TRL needs to train on them. */
export const trlNeeds: PeerNeeds = {
  modules: ['torch', 'transformers', 'trl', 'datasets', 'peft'],
  packages: ['torch>=2.4,<3', 'transformers>=5,<6', 'trl>=1.16,<2', 'datasets>=4', 'peft>=0.18,<1'],
};

interface RunSize {
  folder: string;
  iterations: number;
  threads: number;
  seed: number;
}

/** What `trl_iteration.py` is asked for: what the run file says, by the names that it has there. */
export function trlOrder(job: PeerJob, { sequences, ...size }: RunSize & { sequences: number }) {
  const { train, rollout, policy, model } = loadConfig({ file: fileOf(job) }).config;
  const count = job.tasks * (size.iterations + 1);
  return {
    ...job,
    ...size,
    sequences,
    model: path.resolve(job.model),
    rows: job.environment === 'calculator' ? questions(size.seed, count) : codeTasks(count),
    turnTokens: policy.maxTurnTokens,
    turns: rollout.maxTurns,
    learningRate: train.learningRate,
    beta2: train.beta2,
    // The default of the clipped loss, which both jobs have.
    clipHigh: 0.28,
    lora: model.lora ?? null,
  };
}

const fileOf = ({ config }: PeerJob): string => path.join(packageRoot(), config);

const questions = (seed: number, count: number) =>
  Array.from({ length: count }, (_, index) => {
    const { question, answer } = trainRow(seed, index);
    return { prompt: question, answer };
  });

function codeTasks(count: number) {
  const file = path.join(packageRoot(), 'dataset', 'code_tasks', 'train.jsonl');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return Array.from({ length: count }, (_, place) => {
    const { prompt, tests } = JSON.parse(lines[place % lines.length]!) as Record<string, unknown>;
    return { prompt, answer: JSON.stringify(tests) };
  });
}

export interface TrlAnswer {
  version: string;
  /** `reward` is the share of an iteration's episodes that were solved. */
  iterations: {
    wallS: number;
    cpuS: number;
    sampledTokens: number;
    entropy: number;
    reward: number;
  }[];
  peakBytes: number;
}

interface Summary {
  cpuSeconds: number;
  peakRssBytes: number;
  generation: { fedTokens: number; prefilledTokens: number; sharedTokens: number };
}

/** A run of ours, for a number of iterations without evaluations. */
export function runOfOurs(
  job: PeerJob,
  { folder, iterations, threads, seed }: RunSize,
): { summary: Summary; metrics: Record<string, number>[] } {
  const sets = {
    'model.path': path.resolve(job.model),
    'rollout.tasksPerStep': job.tasks,
    'rollout.groupSize': job.group,
    ...longer(job.system),
    'train.iterations': iterations,
    'train.warmupSteps': 0,
    'train.schedule': 'constant',
    'eval.before': false,
    'eval.after': false,
    'run.engineThreads': threads,
    'run.outputDir': folder,
    'run.name': `of-${iterations}`,
    'run.previewTasks': 0,
  };
  const flags = Object.entries(sets).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const command = path.join(packageRoot(), 'dist', 'scripts', 'agent-rl.js');
  const train = [command, 'train', '--config', fileOf(job), '--seed', String(seed)];
  programOutput(process.execPath, [...train, ...flags]);
  const textOf = (name: string): string =>
    readFileSync(path.join(folder, `of-${iterations}`, name), 'utf8');
  return {
    summary: JSON.parse(textOf('summary.json')) as Summary,
    metrics: textOf('metrics.jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, number>),
  };
}

/** More room where a system prompt is given. */
const longer = (system: string | undefined) =>
  system === undefined
    ? {}
    : {
        'environment.systemPrompt': system,
        'policy.maxContextTokens': 1536,
        'rollout.maxEpisodeTokens': 1536,
        'algorithm.microBatchTokens': 4096,
      };
