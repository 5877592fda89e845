import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { prepareRun } from '../../agent_rl/compose/prepare-run.ts';
import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { conversationLine } from '../../dataset/demonstrations/conversations.ts';
import { teacherConversations } from '../starter-model/teacher-conversations.ts';

/** How a shipped run file is trained for two iterations. */
export interface YardstickJob {
  name: string;
  /** Puts what a job needs into its empty folder. */
  prepare?: (folder: string) => void | Promise<void>;
  /** Programs of dist/scripts with their arguments, one after the other; the run of this name in `runs` is hashed. */
  commands: readonly (readonly string[])[];
  /** Why the job cannot run here. */
  missing?: string | undefined;
}

const iterations = 2;
const configFile = (name: string): string => join(packageRoot(), 'configs', `${name}.yaml`);

/** One engine thread, so that hashes do not depend on the number of processors. */
function command(program: string, config: string, sets: Record<string, string> = {}): string[] {
  const all = {
    'train.iterations': String(iterations),
    'train.warmupSteps': '0',
    'run.engineThreads': '1',
    ...sets,
  };
  const given = Object.entries(all).flatMap(([path, value]) => ['--set', `${path}=${value}`]);
  const where = ['--config', configFile(config), '--seed', '1', '--output', 'runs'];
  return ['agent-rl', program, ...where, '--quiet', ...given];
}

/** A tenth of the tasks or so, at both ends. */
const train = (config: string, sets?: Record<string, string>): string[] =>
  command('train', config, { 'eval.maxTasks': '24', ...sets });

/** A starter's warm-up, from the starter as it ships: fresh weights would need the tokenizer to be trained. */
function warmUp(config: string, starter: string): YardstickJob {
  const model = join(packageRoot(), 'model', starter);
  return {
    name: config,
    async prepare(folder) {
      const prepared = await prepareRun({
        file: configFile(config),
        flags: [{ source: '--seed', path: 'run.seed', value: 1 }],
      });
      const count = iterations * prepared.loaded.config.train.batchSize;
      const conversations = await teacherConversations(prepared, 1, count);
      mkdirSync(join(folder, 'conversations'));
      const lines = conversations.map((messages) => `${conversationLine({ messages })}\n`);
      writeFileSync(join(folder, 'conversations', 'train.jsonl'), lines.join(''));
    },
    commands: [command('sft', config, { 'model.path': model, 'datasets.0.dir': 'conversations' })],
  };
}

const wordGame = [['make-word-game'], command('sft', 'word_game_sft')];
const { AGENT_RL_MEDQUAD: medquad } = process.env;

export const yardstickJobs: readonly YardstickJob[] = [
  { name: 'code_exec_smoke', commands: [train('code_exec_smoke')] },
  { name: 'code_exec_grpo', commands: [train('code_exec_grpo')] },
  { name: 'code_tasks_lora', commands: [train('code_tasks_lora')] },
  { name: 'search_qa_grpo', commands: [train('search_qa_grpo')] },
  { name: 'workspace_grpo', commands: [train('workspace_grpo')] },
  { name: 'mixed_grpo', commands: [train('mixed_grpo')] },
  warmUp('code_tasks_sft', 'starter'),
  warmUp('search_sft', 'search-starter'),
  warmUp('workspace_sft', 'workspace-starter'),
  warmUp('mixed_sft', 'mixed-starter'),
  { name: 'word_game_sft', commands: wordGame },
  {
    name: 'word_game_grpo',
    commands: [...wordGame, train('word_game_grpo', { 'model.path': 'runs/word_game_sft-seed1' })],
  },
  {
    name: 'word_game_two',
    commands: [...wordGame, train('word_game_two', { 'model.path': 'runs/word_game_sft-seed1' })],
  },
  {
    name: 'medquad_rag_grpo',
    missing:
      medquad === undefined ? 'AGENT_RL_MEDQUAD does not name a checkout of MedQuAD' : undefined,
    prepare: (folder) => symlinkSync(medquad ?? '', join(folder, 'MedQuAD')),
    commands: [
      ['agent-rl', 'data', 'prepare', 'MedQuAD', '--output', join('.cache', 'medquad')],
      [
        'agent-rl',
        'data',
        'index',
        join('.cache', 'medquad'),
        '--output',
        join('.cache', 'medquad-index'),
      ],
      train('medquad_rag_grpo'),
    ],
  },
];
