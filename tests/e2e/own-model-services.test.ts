import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { OpenGenerator, OpenLearner } from '#agent_rl/index.ts';
import { serveModel } from '#agent_rl/jobs/serve/serve-model.ts';
import { describeGeneratorContract } from '../contracts/generator-contract.ts';
import { describeLearnerContract } from '../contracts/learner-contract.ts';
import { openOnModel } from '../contracts/open-on-model.ts';
import { codeBlocks, fileNameOf, readDocument } from '../support/markdown.ts';
import { servingOptions } from '../support/serving.ts';
import { writeSmallModel, smallModelConfig } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/*
 * The generator and the learner of the page on serving, on the contracts: the generator asks `agent-rl serve`.
 */

const folder = temporaryFolder();
const source = join(packageRoot(), 'agent_rl', 'index.ts');

async function exported(file: string, name: string): Promise<unknown> {
  const block = codeBlocks(readDocument('docs/guides/serving.md')).find(
    (one) => fileNameOf(one) === file,
  );
  const text = block!.text.replaceAll("from 'agent_rl'", `from '${source}'`);
  const own = (await import(pathToFileURL(writeBelow(folder, file, text)).href)) as object;
  return (own as Readonly<Record<string, unknown>>)[name];
}

const stop = new AbortController();
let served: Promise<unknown>;
let url = '';
beforeAll(async () => {
  await writeSmallModel(join(folder, 'model'));
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

describeGeneratorContract('the generator of the page on serving', {
  open: async () => {
    const plugin = (await exported('own-generator.ts', 'overHttp')) as OpenGenerator<object>;
    return openOnModel(plugin, { url, model: 'starter' }, join(packageRoot(), 'model', 'starter'));
  },
  vocabSize: 1024,
});

describeLearnerContract('the learner of the page on serving', {
  open: async () => {
    const plugin = (await exported('own-learner.ts', 'inPieces')) as OpenLearner<object>;
    return openOnModel(plugin, { sequences: 1 }, join(folder, 'model'));
  },
  vocabSize: smallModelConfig.vocabSize,
});
