import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { makeAcmeProject, readJson, withoutTimes } from '../support/acme-project.ts';
import { succeeded } from '../support/built-program.ts';
import { episodesIn } from '../support/journal.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/** A task generator in a file of a project outside the repository. */
const generator = (version: number): string => `
import { KeyedRng, taskGenerator, type TaskGenerator, Type } from 'agent_rl/plugin';

@taskGenerator({
  name: 'endless-sums',
  description: 'Sums of two numbers, without end.',
  version: ${version},
  taskFormat: 'plain',
  settings: Type.Object({ largest: Type.Integer({ default: 50, minimum: 1, maximum: 99 }) }),
})
export class EndlessSums implements TaskGenerator {
  readonly #largest: number;

  constructor({ settings }: { settings: { largest: number } }) {
    this.#largest = settings.largest;
  }

  train(seed: number, index: number): object {
    const rng = new KeyedRng('sums', seed, index);
    const [a, b] = [1 + rng.integer(this.#largest), 1 + rng.integer(this.#largest)];
    return { task_id: \`sum-\${index}\`, prompt: \`What is \${a} + \${b}?\`, answer: a + b };
  }

  evaluation(): object[] {
    return [100, 101].map((a) => ({ task_id: \`held-\${a}\`, prompt: \`What is \${a} + 1?\`, answer: a + 1 }));
  }
}
`;

const project = temporaryFolder();
const elsewhere = temporaryFolder();
const program = residentProgram('agent-rl');
const agentRl = (args: readonly string[], cwd = project) => program(args, cwd);
const runOf = (name: string): string => join(project, 'runs', name);
const begin = (name: string, ...more: string[]) =>
  agentRl(['train', '--config', 'endless.yaml', '--set', `run.name=${name}`, ...more]);

beforeAll(async () => {
  await makeAcmeProject(project);
  writeBelow(project, 'sums.ts', generator(1));
  writeBelow(
    project,
    'endless.yaml',
    `extends: train.yaml
plugins: ['@acme/arithmetic', './vowels.ts', './sums.ts']
datasets:
  - generator: { type: endless-sums, largest: 40 }
`,
  );
});

describe("A third party's task generator", () => {
  test('gives a run a new task for each draw, and the plan says so', async () => {
    const said = succeeded(await begin('whole'));
    expect(said).toContain('Tasks (1 of an endless set)\n  sum-0\n    What is ');
    expect(said).toContain(
      'an endless supply from endless-sums (version 1) to train on, 2 held out',
    );
    const trained = await episodesIn(runOf('whole'), 'train');
    const ids = new Set(trained.map(({ taskId }) => taskId));
    expect([...ids].join(' ')).toBe('sum-0 sum-1 sum-2 sum-3');
    expect(readJson(runOf('whole'), 'summary.json')).toMatchObject({
      iterations: 2,
      eval: { after: { n: 2 } },
    });
  });

  test('gives a resumed run the same tasks and weights', async () => {
    succeeded(await begin('halves', '--max-iterations', '1'));
    const resume = ['train', '--resume', runOf('halves'), '--max-iterations', '2'];
    succeeded(await agentRl(resume, elsewhere));
    const recorded = async (name: string) => {
      const { weightsSha256 } = readJson(runOf(name), 'summary.json');
      return { weightsSha256, episodes: withoutTimes(await episodesIn(runOf(name), 'train')) };
    };
    expect(await recorded('halves')).toEqual(await recorded('whole'));
  });
});
