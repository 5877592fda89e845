import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { OpenGenerator, OpenLearner } from '#agent_rl/plugin.ts';
import { serveModel } from '#agent_rl/jobs/serve/serve-model.ts';
import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { freePort } from '#tests/support/free-port.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { describeGeneratorContract } from '../contracts/generator-contract.ts';
import { describeLearnerContract } from '../contracts/learner-contract.ts';
import { openOnModel } from '../contracts/open-on-model.ts';
import { codeBlocks, fileNameOf, readDocument } from '../support/markdown.ts';
import { servingOptions } from '../support/serving.ts';
import { writeSmallModel, smallModelConfig } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { expectRejection } from '../support/thrown.ts';

/*
 * The generator and the learner of the page on generators and learners, on the contracts: the generator asks `agent-rl serve`.
 */

const folder = temporaryFolder();
const source = join(packageRoot(), 'agent_rl', 'plugin.ts');

async function exported(file: string, name: string): Promise<unknown> {
  for (const block of codeBlocks(readDocument('docs/guides/generators-and-learners.md'))) {
    const text = block.text.replaceAll("from 'agent_rl/plugin'", `from '${source}'`);
    if (block.language === 'ts') writeBelow(folder, fileNameOf(block)!, text);
  }
  const own = (await import(pathToFileURL(join(folder, file)).href)) as object;
  return (own as Readonly<Record<string, unknown>>)[name];
}

const stop = new AbortController();
let served: Promise<unknown>;
let url = '';
beforeAll(async () => {
  await writeSmallModel(join(folder, 'model'));
  const others = initialParameters(smallModelConfig, new KeyedRng(2));
  await writeSmallModel(join(folder, 'other'), smallModelConfig, others);
  const given = await servingOptions(stop.signal);
  const at = await new Promise<string>((resolve, reject) => {
    served = serveModel({ ...given, onListening: resolve });
    served.catch(reject);
  });
  url = at.replace(/\/v1$/, '');
});
afterAll(async () => {
  stop.abort();
  await served;
});

describeGeneratorContract('the generator of the page on generators and learners', {
  open: async () => {
    const plugin = (await exported('own-generator.ts', 'overHttp')) as OpenGenerator<object>;
    return openOnModel(plugin, { url, model: 'starter' }, join(packageRoot(), 'model', 'starter'));
  },
  vocabSize: 1024,
});

describeGeneratorContract('the generator of the page that starts a server for each version', {
  open: async () => {
    const plugin = (await exported('own-restarted.ts', 'restarted')) as OpenGenerator<object>;
    const program = join(packageRoot(), 'dist', 'scripts', 'agent-rl.js');
    const words = ['serve', '--model', '{folder}', '--name', 'mine', '--port', '{port}'];
    const port = await freePort();
    const command = [process.execPath, program, ...words, '--engine-threads', '1'];
    return openOnModel(plugin, { command, port }, join(folder, 'model'));
  },
  vocabSize: smallModelConfig.vocabSize,
  weights: [join(folder, 'model'), join(folder, 'other')],
});

describeLearnerContract('the learner of the page on generators and learners', {
  open: async () => {
    const plugin = (await exported('own-learner.ts', 'inPieces')) as OpenLearner<object>;
    return openOnModel(plugin, { sequences: 1 }, join(folder, 'model'));
  },
  vocabSize: smallModelConfig.vocabSize,
});

test('a run checks that the generator of a plugin keeps its contract', async () => {
  const plugin = `
    import { generator } from '${source}';
    export const deaf = generator({ name: 'deaf', description: 'Takes weights that it never uses.' })(
      async (settings, host) => ({
        describe: async () => ({ name: 'deaf', maxContextTokens: host.maxContextTokens, reproducible: true, takes: ['folder'] }),
        generate: async () => ({ tokens: [], logProbs: [], stop: 'aborted', version: 0 }),
        release: () => undefined,
        close: async () => undefined,
      }),
    );`;
  const config = writeBelow(
    folder,
    'deaf.yaml',
    `extends: ${join(packageRoot(), 'configs', 'code_exec_smoke.yaml')}
plugins: [${writeBelow(folder, 'deaf.ts', plugin)}]
generator: { type: deaf }
run: { outputDir: ${folder} }
`,
  );
  await expectRejection(
    trainAgent({ config }),
    'PLUGIN_LOAD_FAILED',
    'Generator "deaf", describe(): takes is ["folder"], but the generator has no method use',
  );
});
