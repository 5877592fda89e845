#!/usr/bin/env node
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { build } from 'esbuild';

import { packageRoot } from '../agent_rl/core/package-root.ts';

const root = packageRoot();
const source = join(root, 'agent_rl', 'page');
const target = join(root, 'dist', 'agent_rl', 'page');

/** Bundles the page of `agent-rl view` into three files that need nothing else, with the licences of what is in them. */
async function buildPage(): Promise<void> {
  const { metafile } = await build({
    entryPoints: [
      { in: join(source, 'main.tsx'), out: 'page' },
      { in: join(source, 'styles', 'page.css'), out: 'page' },
    ],
    absWorkingDir: root,
    outdir: target,
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
  copyFileSync(join(source, 'page.html'), join(target, 'page.html'));
  const bundled = Object.keys(metafile.inputs).flatMap((file) => packageFolder.exec(file) ?? []);
  const licences = [...new Set(bundled)].map((folder) => licenceOf(join(root, folder)));
  writeFileSync(join(target, 'licences.txt'), licences.join('\n'));
}

/** The folder of a package whose code is in the bundle, by the path of one of its files. */
const packageFolder = /^node_modules\/(?:@[^/]+\/)?[^/]+/;

function licenceOf(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
  };
  return `${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8')}`;
}

await buildPage();
