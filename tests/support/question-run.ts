import { writeBelow } from './temporary-folder.ts';

/** One line of a file of questions. */
export const question = (id: string, prompt = `What is ${id}?`): string =>
  `${JSON.stringify({ task_id: id, question: prompt, answer: id })}\n`;

/** A run file of one short iteration over the folders `tasks` and `model` of a project. */
export const questionRunFile = (project: string, changes = ''): string =>
  writeBelow(
    project,
    'run.yaml',
    `datasets: [{ dir: ${project}/tasks }]
environment: { type: question }
model: { path: ${project}/model }
run: { outputDir: ${project}/runs, name: one, engineThreads: 1, previewTasks: 0 }
policy: { maxTurnTokens: 4, maxContextTokens: 512 }
rollout: { maxEpisodeTokens: 512, tasksPerStep: 1, groupSize: 2, workers: 1 }
algorithm: { microBatchTokens: 512 }
sandbox: { workers: 1 }
train: { iterations: 1 }
eval: { before: false, after: false }
${changes}`,
  );

/** One line of a file of questions to search for. */
export const searchQuestion = (id: string): string =>
  `${JSON.stringify({
    task_id: id,
    question: `Who built the bridge ${id}?`,
    answer: 'Ina Kost',
    aliases: [],
    documents: [],
    metadata: {},
  })}\n`;

/** One line of a file of conversations. */
export const conversation = (content: string): string => {
  const messages = [
    { role: 'user', content: 'Go on.' },
    { role: 'assistant', content },
  ];
  return `${JSON.stringify({ messages })}\n`;
};
