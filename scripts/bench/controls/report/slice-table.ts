import type { Comparison } from '../../../../agent_rl/trainer/success-rate.ts';
import { table } from '../../../docs/markdown.ts';
import type { SeedControls } from '../controls-of-seed.ts';
import { type ControlName, controlNames, controlTitles } from '../control.ts';
import { type Figure, headline } from '../figures.ts';
import type { Qualities, Quality } from '../seed-figures.ts';
import { figureText, rateText, written } from './cells.ts';

type Cell = (result: SeedControls) => string;

/** Rows under a heading of their own. */
interface Section {
  heading: string;
  rows: readonly (readonly [title: string, cell: Cell])[];
}

/** All figures of a slice of the evaluation, or of the headline: a column for each seed. */
export function sliceTable(results: readonly SeedControls[], slice: string): string {
  const row = (title: string, cell: Cell): string[] => [title].concat(results.map(cell));
  const rows = sectionsOf(results, slice)
    .filter((section) => section.rows.length > 0)
    .flatMap((section) =>
      [row(`**${section.heading}**`, () => '')].concat(
        section.rows.map(([title, cell]) => row(title, cell)),
      ),
    );
  return table([slice, ...results.map(({ seed }) => `seed ${seed}`)], rows);
}

function sectionsOf(results: readonly SeedControls[], slice: string): Section[] {
  const price = results[0]?.price ?? 0;
  const earned = `Success minus ${price} for each call and each error`;
  const of = (has: (result: SeedControls) => object): ControlName[] =>
    controlNames.filter((name) => results.some((result) => name in has(result)));
  const known = of(({ figures }) => figures.qualities);
  return [
    {
      heading: 'Success, %',
      rows: [
        ...of(({ controls }) => controls)
          .filter((name) => name !== 'pass-before')
          .map((name) => [controlTitles[name], successCell(name, slice)] as const),
        ...lieRows(results, slice),
        ...passRows(results, slice),
      ],
    },
    {
      heading: 'After minus the control, points',
      rows: of(({ figures }) => figures.differences).map((name) => [
        controlTitles[name],
        ({ figures }) => differenceText(figures.differences[name], slice),
      ]),
    },
    {
      heading: 'Calls; errors in a solved episode',
      rows: qualityRows(known, callsAndErrors(slice, ['callsSolved', 'errorsSolved'])),
    },
    {
      heading: 'Calls; errors in an episode',
      rows: qualityRows(known, callsAndErrors(slice, ['calls', 'errors'])),
    },
    {
      heading: earned,
      rows: qualityRows(known, (own) => figureText(own?.earned?.[slice], written.number)),
    },
    {
      heading: 'RL minus the right demonstrations that it started from',
      rows: of(({ figures }) => figures.beyondDemonstrations).flatMap((name) =>
        beyondRows(name, slice, earned),
      ),
    },
  ];
}

const successCell =
  (name: ControlName, slice: string): Cell =>
  ({ controls }) => {
    const after = controls[name]?.after;
    return rateText(slice === headline ? after : after?.groups[slice]);
  };

const lieRows = (results: readonly SeedControls[], slice: string): Section['rows'] =>
  results.some(({ figures }) => figures.lieFollowed)
    ? [
        [
          'After, lying tool believed',
          ({ figures: { lieFollowed } }) => shareText(lieFollowed?.[slice]),
        ],
      ]
    : [];

function passRows(results: readonly SeedControls[], slice: string): Section['rows'] {
  const counted = new Set(results.flatMap(({ figures }) => Object.keys(figures.passBefore)));
  return [...counted].map((k) => [
    `pass@${k} before, temperature 1`,
    ({ figures }) => shareText(figures.passBefore[Number(k)]?.[slice]),
  ]);
}

const shareText = (share: Figure | undefined): string =>
  share?.value == null ? '-' : `${figureText(share, written.percent)} of ${share.n}`;

function differenceText(comparison: Comparison | undefined, slice: string): string {
  const found = slice === headline ? comparison : comparison?.groups[slice];
  return figureText(
    found && { value: found.difference, interval95: found.interval95, n: found.tasks },
    written.points,
  );
}

const qualityRows = (
  names: readonly ControlName[],
  text: (own: Qualities | undefined) => string,
): Section['rows'] =>
  names.map((name) => [controlTitles[name], ({ figures }) => text(figures.qualities[name])]);

const callsAndErrors =
  (slice: string, pair: readonly Quality[], write = written.number) =>
  (own: Qualities | undefined): string =>
    pair.map((quality) => figureText(own?.[quality]?.[slice], write)).join('; ');

function beyondRows(name: ControlName, slice: string, earned: string): Section['rows'] {
  const title = controlTitles[name];
  const row = (of: string, text: (own: Qualities | undefined) => string) =>
    [
      `${title}: ${of}`,
      ({ figures }: SeedControls) => text(figures.beyondDemonstrations[name]),
    ] as const;
  return [
    row('success, points', (own) => figureText(own?.success?.[slice], written.points)),
    row(
      'calls; errors where both solved',
      callsAndErrors(slice, ['callsSolved', 'errorsSolved'], written.change),
    ),
    row(earned.toLowerCase(), (own) => figureText(own?.earned?.[slice], written.change)),
  ];
}
