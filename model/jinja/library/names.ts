import type { KnownNames } from '../syntax/check-names.ts';
import { filters } from './filters.ts';
import { tests } from './tests.ts';
import { unsupportedMethods } from './text-methods.ts';

/** Filters that apply other filters and tests, and the one that takes any arguments. */
export const higherFilters = ['map', 'select', 'reject', 'selectattr', 'rejectattr', 'format'];

const named = (names: string): ReadonlySet<string> => new Set(names.split(' '));

export const knownNames: KnownNames = {
  filter: {
    supported: new Set([...Object.keys(filters), ...higherFilters]),
    jinjaOnly: named(
      'filesizeformat forceescape pprint random striptags urlencode urlize wordwrap xmlattr',
    ),
  },
  test: { supported: new Set(Object.keys(tests)), jinjaOnly: named('filter test') },
  unsupported: {
    name: named('cycler joiner lipsum self super'),
    method: new Set([...unsupportedMethods, 'copy', 'fromkeys']),
  },
};
