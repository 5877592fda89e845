#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';

import { readRunPoints, runPlot } from './plot/run-plot.ts';

/*
 * Draws reward and held-out success of a finished run as an SVG:
 * `node dist/scripts/plot-run.js RUN_FOLDER --out FILE.svg [--title TEXT]`.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string' }, title: { type: 'string' } },
});
const [folder] = positionals;
if (folder === undefined || values.out === undefined) {
  throw new TypeError('Usage: plot-run RUN_FOLDER --out FILE.svg [--title TEXT]');
}
const title = values.title ?? basename(folder);
writeFileSync(values.out, runPlot(readRunPoints(folder, title)));
