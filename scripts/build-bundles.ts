#!/usr/bin/env node
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { build, type BuildOptions } from 'esbuild';

import { packageRoot } from '../agent_rl/core/package-root.ts';

const root = packageRoot();
const source = join(root, 'agent_rl', 'page');

/** Bundles what an entry imports into files that need nothing else, beside the licences of what is in them. */
async function bundle(outdir: string, options: BuildOptions): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: root,
    outdir,
    bundle: true,
    minify: true,
    legalComments: 'none',
    logLevel: 'error',
    metafile: true,
    ...options,
  });
  const bundled = Object.keys(metafile!.inputs).flatMap((file) => packageFolder.exec(file) ?? []);
  const licences = [...new Set(bundled)].map((folder) => licenceOf(join(root, folder)));
  writeFileSync(join(outdir, 'licences.txt'), licences.join('\n'));
}

/** The page of `agent-rl view`, in three files. */
async function bundlePage(): Promise<void> {
  const target = join(root, 'dist', 'agent_rl', 'page');
  await bundle(target, {
    entryPoints: [
      { in: join(source, 'main.tsx'), out: 'page' },
      { in: join(source, 'styles', 'page.css'), out: 'page' },
    ],
    format: 'iife',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
  });
  copyFileSync(join(source, 'page.html'), join(target, 'page.html'));
}

/** A file for Node with what some lines of code export. */
const bundleForNode = (name: string, lines: readonly string[]): Promise<void> =>
  bundle(join(root, 'dist', name), {
    stdin: { contents: lines.join('\n'), resolveDir: root, sourcefile: `${name}.js` },
    entryNames: name,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    platform: 'node',
    mainFields: ['module', 'main'],
    target: 'node20',
    keepNames: true,
  });

/** The folder of a package whose code is in the bundle, by the path of one of its files. */
const packageFolder = /^node_modules\/(?:@[^/]+\/)?[^/]+/;

function licenceOf(folder: string): string {
  const {
    name,
    version,
    license = 'unknown',
  } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string;
  };
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text =
    file === undefined ? `License: ${license}` : readFileSync(join(folder, file), 'utf8');
  return `${name} ${version}\n\n${text}`;
}

await bundlePage();
// The parts that engines use. Node cannot load the registration of gradients from the package of the core, and the package that
// has everything takes 142 MB, with 82 MB of packages that it needs.
await bundleForNode('tensorflow', [
  `export * from '@tensorflow/tfjs-core';`,
  `import '@tensorflow/tfjs-core/dist/register_all_gradients.js';`,
  `import '@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.js';`,
  `import '@tensorflow/tfjs-backend-cpu';`,
]);
await bundleForNode('typebox', [
  `export { Type } from 'typebox';`,
  `export { Value } from 'typebox/value';`,
]);
