import { trainAgent } from 'agent_rl';

import { searchAgent } from './agent.js';

const answer = searchAgent();
const plain = (text = '') =>
  text
    .toLowerCase()
    .replace(/^it is /, '')
    .replace(/\.$/, '');

await trainAgent({
  model: 'model/search-starter',
  tasks: '../../dataset/search_tasks/train.jsonl',
  agent: ({ task, signal }) => answer(task.prompt, signal),
  reward: ({ task, answer: text }) => (plain(text) === plain(task.answer) ? 1 : 0),
  policy: { thinking: true, maxTurnTokens: 96, maxContextTokens: 448 },
  rollout: { tasksPerStep: 24, groupSize: 8, workers: 96, maxTurns: 6, maxEpisodeTokens: 448 },
  train: { iterations: 48, learningRate: 3e-4 },
  run: { name: 'ai-sdk' },
  print: console.log,
});
