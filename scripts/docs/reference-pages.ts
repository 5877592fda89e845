import { apiPage } from './api-page.ts';
import { cliPage } from './cli-page.ts';
import { errorsPage } from './errors-page.ts';
import { filesPage } from './files-page.ts';
import { settingsPage } from './settings-page.ts';

/** The pages of `docs/reference`, by their file names. */
export const referencePages = (): Record<string, string> => ({
  'cli.md': cliPage(),
  'settings.md': settingsPage(),
  'metrics-and-files.md': filesPage(),
  'errors.md': errorsPage(),
  'api.md': apiPage(),
});
