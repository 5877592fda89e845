import { expect, test } from '@jest/globals';

import { readMarked } from '#agent_rl/core/python/python-json.ts';
import { JinjaTemplate } from '#model/jinja/jinja-template.ts';
import { strftime } from '#model/jinja/library/strftime.ts';

const rendered = (source: string, json = '{}'): string =>
  new JinjaTemplate(source).render(readMarked(json) as Record<string, unknown>, '2024-07-26');

test.each([
  [String.raw`[{{ x.strip('\n') }}]`, '\n a \n', '[ a ]'],
  [String.raw`[{{ x.rstrip('\n ') }}]`, ' a \n \n', '[ a]'],
  ["[{{ x.strip('🙂a') }}]", 'a🙂b🙂a', '[b]'],
  ['[{{ x.strip() }}]', ' \n\u0085a\ufeff \n ', '[a\ufeff]'],
  [String.raw`[{{ x.split('|')[-1].lstrip('\n').strip('b') }}]`, 'a|\nb cb', '[ c]'],
])('the template %s strips as in Python', (source, x, text) => {
  expect(rendered(source, JSON.stringify({ x }))).toBe(text);
});

const numbers = '{"x": [1, 1.0, 12345678901234567890, 1e22, true, null, "it\'s"]}';
const printed = `[1, 1.0, 12345678901234567890, 1e+22, True, None, "it's"]`;
const keys = '{"x": {"10": 1e-7, "9": "ü\\n"}}';

test.each([
  ['{{ x }}', numbers, printed],
  ['{{ x|tojson }} {{ x }}', keys, `{"10": 1e-07, "9": "ü\\n"} {'10': 1e-07, '9': 'ü\\n'}`],
  ['{% if x is string %}text{% elif x is float %}float{% endif %}', '{"x": 1.0}', 'float'],
  ['{{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 3 ** 2 }} {{ -1|abs }}', '{}', '-4 2 3.5 64 1'],
  ['{{ x == none }} {{ x is none }} {{ x == false }}', '{}', 'False False False'],
  ['{{ y == false }}', '{"y": ""}', 'False'],
  ['{{ "🙂é"|length }} {{ "a🙂b"[1] }} {{ "a🙂b"[::-1] }}', '{}', '2 🙂 b🙂a'],
  ['a\r\nb\rc\n', '{}', 'a\nb\nc'],
  ['{% raw %}{{ x }}{% endraw %}', '{}', '{{ x }}'],
  ['{% for k in x %}{% set n = k %}{{ n }}{% endfor %}{{ n }}', '{"x": {"b": 1, "a": 2}}', 'ba'],
  ['{% if f %}{{ 1|nothing_has_this }}{% endif %}ok', '{"f": false}', 'ok'],
  ['{% set x = y|tojson|safe %}{{ x ~ "<" }}{{ x + "<" }}', '{"y": ["<"]}', '["<"]<["<"]&lt;'],
])('the template %s with %s renders as in Python', (source, json, text) => {
  expect(rendered(source, json)).toBe(text);
});

test('a template gets the configured date, also if it first checks for strftime_now', () => {
  const source = '{% if strftime_now is defined %}{{ strftime_now("%d %b %Y") }}{% endif %}';
  expect(rendered(source)).toBe('26 Jul 2024');
});

test.each([
  ['{{ x|random }}', /line 1: the filter "random" is not supported. Supported: /],
  ['\n{{ 1|nothing_has_this }}', /line 2: the filter "nothing_has_this" is not supported/],
  ['{% if x %}{{ x is filter }}{% endif %}', /line 1: the test "filter" is not supported/],
  ['{{ x.encode() }}', /the method "encode" is not supported/],
  ['{% set comma = joiner() %}{{ comma() }}', /the name "joiner" is not supported/],
  ['{% include "other" %}', /line 1: a statement is expected, one of if for .* at "include"/],
  ['{% for x in y recursive %}{% endfor %}', /line 1: recursive loops are not supported/],
  ['{% if x %}', /line 1: a block that ends with endif is not closed at the end/],
  ['a\n{{ "b }}', /line 2: "\\"" is not expected/],
  [String.raw`{{ "\N{DEGREE SIGN}" }}`, /the escape "\\\\N" in a string is not supported/],
])('the template %j is refused when it is parsed', (source, message) => {
  expect(() => new JinjaTemplate(source)).toThrow(message);
});

test.each([
  ['{{ x.strip(3) }}', /strip takes a str, not int/],
  ['{{ missing.name }}', /'missing' is undefined/],
  ['{{ x.append }}{{ [1].append(2) }}', /append of a list is not safe to use/],
  ['{{ 1 is sameas 1 }}', /sameas of numbers or texts is not supported/],
])('the template %j is refused when it is rendered', (source, message) => {
  expect(() => rendered(source, '{"x": "text"}')).toThrow(message);
});

test.each([
  ['%d %b %Y', '2024-07-26', '26 Jul 2024'],
  ['%A, %B %-d, %Y', '2024-02-05', 'Monday, February 5, 2024'],
  ['%Y-%m-%d %H:%M:%S (%a, %y) %%', '1999-12-31', '1999-12-31 00:00:00 (Fri, 99) %'],
  ['%-m/%-d', '2023-01-09', '1/9'],
])('the format %j writes %s as in Python', (format, date, written) => {
  expect(strftime(format, date)).toBe(written);
});

test('an unknown format is refused', () => {
  expect(() => strftime('%Q', '2024-07-26')).toThrow(/%Q is not supported. Supported: %% %Y/);
});
