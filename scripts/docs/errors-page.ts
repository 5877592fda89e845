import { type ErrorDefinition, errorCatalogue } from '../../agent_rl/core/error-catalogue.ts';
import { code, page, plain, table } from './markdown.ts';

/** `docs/reference/errors.md` */
export const errorsPage = (): string =>
  page(
    'Errors',
    'Every error that the package throws on purpose is an `AgentRlError` with one of these codes. Codes are stable; messages may improve.',
    'The command line leaves with 0 when all went well, 2 after a mistake of the user, 130 when interrupted, and 1 otherwise. With `--json` the error is on stdout as `{"error": {"code", "message"}}`; what is not an `AgentRlError` has the code `UNEXPECTED`.',
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
