import { describe, expect, test } from '@jest/globals';

import { decodeText } from '#agent_rl/search/web/pages/decode-text.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const encodingOf = (page: string, type = 'text/html'): string =>
  decodeText(Buffer.from(page), type).encoding;

describe('The detected encoding', () => {
  // What a browser's `document.characterSet` is by 13.2.3.2 of the HTML standard.
  test.each([
    ['<meta charset=utf-16><p>é', 'utf-8'],
    ['<meta charset="utf-16be"><p>é', 'utf-8'],
    ['<meta charset=ucs-2><p>é', 'utf-8'],
    ['<meta http-equiv="Content-Type" content="text/html; charset=unicode"><p>Ende', 'utf-8'],
    ['<meta charset=x-user-defined><p>x', 'windows-1252'],
    ['<!-- <meta charset="shift_jis"> --><meta charset="utf-8"><p>Grün', 'utf-8'],
    ['<!--><meta charset=koi8-r> -->', 'koi8-r'],
    ['<!-- <meta charset=koi8-r>', 'utf-8'],
    ['<a title="<meta charset=koi8-r>"><meta charset=big5>', 'big5'],
    ['<!doctype <meta charset=koi8-r>', 'utf-8'],
    ['<metal charset=koi8-r>', 'utf-8'],
    ['<meta/charset=koi8-r>', 'koi8-r'],
    ["<META CharSet = 'KOI8-R' >", 'koi8-r'],
    ['<meta data-charset=koi8-r>', 'utf-8'],
    ['<meta name=x content="charset=koi8-r">', 'utf-8'],
    ['<meta content="text/html; charset=koi8-r" http-equiv=content-type>', 'koi8-r'],
    ['<meta http-equiv=content-type content="charset charset = \'koi8-r\'">', 'koi8-r'],
    ['<meta http-equiv=content-type content="charset=\'koi8-r">', 'utf-8'],
    ['<meta charset=klingon><meta charset=koi8-r>', 'koi8-r'],
    ['<meta charset=utf-7><p>é', 'utf-8'],
    ['<meta charset=koi8-r charset=big5>', 'koi8-r'],
    ['<?xml version="1.0" encoding="koi8-r"?><html>', 'koi8-r'],
    ['<?xml version="1.0" encoding="utf-16"?><html>é', 'utf-8'],
    ['<?xml encoding="koi8-r"?><meta charset=big5>', 'big5'],
    [`${' '.repeat(1024)}<meta charset=koi8-r>`, 'utf-8'],
  ])('for %j, is %s', (page, encoding) => {
    expect(encodingOf(page)).toBe(encoding);
  });

  test.each([
    ['text/html; charset=koi8-r', '<meta charset=big5>', 'koi8-r'],
    ['text/html; charset="big5"', '<meta charset=koi8-r>', 'big5'],
    // To the MIME standard single quotes are part of the name.
    ["text/html; charset='windows-1251'", '<meta charset=koi8-r>', 'koi8-r'],
    ['text/html; charset=klingon', '<meta charset=koi8-r>', 'koi8-r'],
    ['', '<meta charset=koi8-r>', 'koi8-r'],
    ['text/plain', 'Write <meta charset=koi8-r>', 'utf-8'],
    ['application/json', '"<meta charset=koi8-r>"', 'utf-8'],
    ['application/xml', '<?xml version="1.0" encoding="koi8-r"?><a/>', 'koi8-r'],
  ])('with the type %j, of %j is %s', (type, page, encoding) => {
    expect(encodingOf(page, type)).toBe(encoding);
  });

  test('windows-1252 has quotes and the euro sign, declared or detected', () => {
    const bytes = Buffer.from('\x93\x80\xe9\x94', 'latin1');
    for (const type of ['text/html', 'text/plain; charset=iso-8859-1'])
      expect(decodeText(bytes, type)).toEqual({ text: '“€é”', encoding: 'windows-1252' });
  });

  test.each(['iso-2022-cn', 'iso-2022-kr'])('an undecodable page in %s is refused', (label) => {
    const page = Buffer.from(`<meta charset=${label}>x`);
    expect(thrownBy(() => decodeText(page, 'text/html'))).toMatchObject({
      kind: 'wrong-encoding',
    });
  });
});
