import { cpSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';
import { parseHTML } from 'linkedom';

import { rateText } from '#agent_rl/runs/evaluation-table.ts';
import type { SuccessRate } from '#agent_rl/trainer/success-rate.ts';
import { makeAcmeProject, readJson } from '../support/acme-project.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const agentRl = residentProgram('agent-rl');
const run = join(project, 'runs', 'real');
const page = (file: string) => {
  const { document } = parseHTML(readFileSync(file, 'utf8'));
  const rows = [...document.querySelectorAll('tr')].map((row) =>
    [...row.children].map((cell) => cell.textContent),
  );
  return { document, rows };
};

beforeAll(() => makeAcmeProject(project));

test('a run ends with a report that names its success, and tells a program where it is', async () => {
  const settings = '--set eval.before=true --set eval.after=true --set run.name=real';
  const args = `train --config train.yaml --max-iterations 2 ${settings} --json`.split(' ');
  const { code, stdout, stderr } = await agentRl(args, project);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  const { report } = JSON.parse(stdout) as { report: string };
  expect(report).toBe(join(run, 'report.html'));
  expect(stderr).toContain(`Report: ${report}`);
  expect(statSync(report).size).toBeLessThan(2 ** 20);
  const { document, rows } = page(report);
  const { before, after } = readJson(run, 'summary.json')['eval'] as Record<string, SuccessRate>;
  const total = rows.find(([name]) => name === 'All (without slices)') ?? [];
  expect(total.slice(1, 3)).toEqual([before, after].map((rate) => rate && rateText(rate)));
  expect(document.querySelectorAll('figure').length).toBeGreaterThan(4);
  expect(document.querySelectorAll('article').length).toBeGreaterThan(0);
  expect(document.querySelectorAll('script')).toHaveLength(0);
});

test('a command writes it again, for several runs too', async () => {
  const copy = join(project, 'runs', 'copy');
  cpSync(run, copy, { recursive: true });
  const { code, stdout, stderr } = await agentRl(
    ['runs', 'report', run, copy, '--out', 'both.md', '--format', 'md'],
    project,
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(`Report: ${join(project, 'both.md')}\n`);
  expect(readFileSync(join(project, 'both.md'), 'utf8')).toMatch(/^# 2 runs: real, copy\n/);
});

test('a command without a run, or with a word that is no format, says what is missing', async () => {
  const [without, other] = [
    await agentRl(['runs', 'report'], project),
    await agentRl(['runs', 'report', run, '--format', 'pdf'], project),
  ];
  expect([without.code, other.code]).toEqual([2, 2]);
  expect(without.stderr).toContain('agent-rl runs report needs RUNS, the folders of runs.');
  expect(other.stderr).toContain('Choices: "html", "md", "svg"');
});
