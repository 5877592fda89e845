import { decimalText } from './decimal-text.ts';
import { markedText } from './find-number.ts';
import { type Fraction, parseFraction } from './fraction.ts';

const decimal = String.raw`(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+`;
const power = String.raw`(?:[eE]|\s*(?:\\times|\\cdot|[×*])\s*10\s*\^\s*\{?)(?<exponent>[-+]?\d{1,4})\}?`;
const label = new RegExp(
  String.raw`^(?:\p{L}?\s*=)?\s*(?<sign>[-+]?)\s*(?:(?<whole>\d+)\s+(?<top>\d+)\/(?<under>\d+)|(?<value>${decimal})(?:${power}|\s*\/\s*(?<below>\d+))?)(?<unit>(?![\d.,/]).*)$`,
  'su',
);

/** Words of a unit, which have two letters or stand apart, such as `cm^2`, `km/h` or ` m`; a letter alone is a variable. */
const unit =
  /^(?:\s*(?:[%°€£¥$][CF]?|(?:\p{L}{2,}|(?<=[\s/])[mgslLhJNWVAKCF])(?!\p{L})\.?)(?:\^\{?-?\d\}?|[²³])?(?:\s*\/|-)?)*\s*\.?$/u;

/** Words that change the number before them. */
const changing =
  /\b(?:hundred|thousand|[mbtr]+illion|dozen|half|halves|thirds?|quarters?|pi|squared|cubed|times|plus|minus|over|and|or|to|factorial)s?\b/iu;

/** A label with LaTeX's ways of writing numbers and units in plain text. */
const plain = (text: string): string =>
  text
    .replaceAll('\u2212', '-')
    .replaceAll(/\\(?:left|right|displaystyle|[,!;: ()[\]])/gu, '')
    .replaceAll('{,}', ',')
    .replaceAll(/\\([$%])/gu, '$1')
    .replaceAll(/\\[dt]?frac\s*(?:\{\s*(-?\d+)\s*\}\s*\{\s*(\d+)\s*\}|(\d)\s*(\d))/gu, ' $1$3/$2$4')
    .replaceAll(/\\(?:text|textrm|mathrm|mbox)\s*\{([^{}]*)\}/gu, ' $1')
    .replaceAll(/\^\s*\{?\s*\\circ\s*\}?/gu, '°')
    .trim()
    .replace(/^\$(.*)\$$/su, '$1')
    .replace(/^([-+]?)\s*[$€£¥]\s*/u, '$1')
    .trim();

/**
 * The number that a label is, marked or as a whole: a decimal, a fraction, a mixed number or a power of ten, which may
 * have a unit.
 *
 * @returns `undefined` for an expression, several numbers, or a number among other words: none of its numbers is it
 */
export function labelNumber(text: string): Fraction | undefined {
  const groups = label.exec(plain(markedText(text) ?? text))?.groups;
  if (groups === undefined) return undefined;
  const { sign = '', whole, top = '', under = '', value = '', exponent = '0', below } = groups;
  const behind = groups['unit'] ?? '';
  if (!unit.test(behind) || changing.test(behind)) return undefined;
  if (whole !== undefined) {
    const above = BigInt(whole) * BigInt(under) + BigInt(top);
    return parseFraction(`${sign}${above}/${under}`);
  }
  const digits = value.replaceAll(',', '').replace(/^\./, '0.');
  const written = decimalText(`${digits}e${exponent}`);
  return parseFraction(`${sign}${written}${below === undefined ? '' : `/${below}`}`);
}
