import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { earlierSystems } from '../../agent_rl/config/earlier-systems.ts';
import { errorCatalogue, type ErrorDefinition } from '../../agent_rl/core/error-catalogue.ts';
import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { metricNames } from '../../agent_rl/telemetry/metric-names.ts';
import { apiPage } from './api-page.ts';
import { cliPage } from './cli-page.ts';
import { code, page, plain, table } from './markdown.ts';
import { settingsPage } from './settings-page.ts';

const errorsPage = (): string =>
  page(
    'Errors',
    'Every error that the package throws on purpose is an `AgentRlError` with one of these codes. Codes are stable; messages may improve.',
    'The command line exits with 0 on success, 2 after a user error, 130 when interrupted, and 1 otherwise. With `--json` the error is on stdout as `{"error": {"code", "message"}}`, with `next` if there is a checkpoint to resume from; an error that is not an `AgentRlError` has the code `UNEXPECTED`.',
    table(
      ['Code', 'Caused by', 'When', 'What to do'],
      Object.entries(errorCatalogue).map(
        ([name, { cause, meaning, remedy }]: [string, ErrorDefinition]) => [
          code(name),
          cause,
          plain(meaning),
          plain(remedy),
        ],
      ),
    ),
  );

/** `docs/reference/metrics-and-files.md`: the page as it is, with its table of metrics made anew. */
function filesPage(): string {
  const file = join(packageRoot(), 'docs', 'reference', 'metrics-and-files.md');
  const metrics = table(
    ['Metric', 'Unit', 'Meaning'],
    Object.entries(metricNames).map(([name, { unit, description }]) => [
      code(name),
      unit,
      plain(description),
    ]),
  );
  return readFileSync(file, 'utf8').replace(/\| Metric \|[^]*?(?=\n\n)/, () => metrics);
}

const earlierSystemsPage = (): string =>
  page(
    'Settings of earlier systems',
    'Where each setting of four earlier systems is in agent_rl. "Dead" marks a setting that the earlier system read but did not use. agent_rl rejects a run file or flag with a name from the first column and suggests the one in the second.',
    ...earlierSystems.flatMap(({ name, about, rows }) => [
      `## ${name}`,
      `${about}.`,
      table(
        ['Earlier system', 'agent_rl'],
        rows.map(([theirs, ours]) => [plain(theirs), plain(ours)]),
      ),
    ]),
  );

/** The pages that are written from the code, by their paths in `docs`. */
export const referencePages = (): Record<string, string> => ({
  'reference/cli.md': cliPage(),
  'reference/settings.md': settingsPage(),
  'reference/metrics-and-files.md': filesPage(),
  'reference/errors.md': errorsPage(),
  'reference/api.md': apiPage(),
  'design/earlier-systems.md': earlierSystemsPage(),
});
