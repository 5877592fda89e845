/**
 * What a bare realm lacks and pyodide needs, as a script that runs in the realm. Emscripten believes it is
 * in a JavaScript shell, so it asks for files through `readbuffer` and for nothing else.
 *
 * The value of the script is an object of functions for the worker alone; it is not reachable from the realm.
 */
export const realmPrelude = String.raw`
'use strict';
(() => {
  const realm = globalThis;
  const files = Object.create(null);
  const nop = () => {};

  realm.readbuffer = (address) => {
    const name = String(address).split('/').pop();
    if (!files[name]) throw new Error('no file ' + name);
    return files[name];
  };
  realm.read = () => { throw new Error('no files'); };
  realm.load = nop;
  realm.__noImport = () => { throw new Error('import() is not available'); };
  realm.console = { log: nop, warn: nop, error: nop, info: nop, debug: nop };
  realm.performance = { now: () => Date.now(), timeOrigin: 0 };
  realm.URL = class URL { constructor(address) { this.href = String(address); } toString() { return this.href; } };
  realm.AbortController = class AbortController { constructor() { this.signal = {}; } abort() {} };
  // An instance outlives its runs and its heap is restored under the collector's feet.
  realm.FinalizationRegistry = class FinalizationRegistry { register() {} unregister() {} };

  // Loading pyodide needs timers; afterwards nothing may run between two runs, so they are closed.
  let timersOpen = true;
  realm.setTimeout = (callback) => { if (timersOpen) Promise.resolve().then(callback); return 1; };
  realm.setImmediate = realm.setTimeout;
  realm.setInterval = () => 0;
  realm.clearTimeout = nop;
  realm.clearInterval = nop;

  // xorshift32 (Marsaglia 2003): what os.urandom gives inside. Repeatable by seed, not secret.
  let state = 1;
  const nextByte = () => {
    state ^= state << 13; state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5; state >>>= 0;
    return state & 255;
  };
  const seed = (number) => {
    state = (Math.imul(number ^ (number >>> 16), 0x45d9f3b) ^ 0x9e3779b9) >>> 0 || 1;
    for (let i = 0; i < 16; i++) nextByte();
  };
  realm.crypto = {
    getRandomValues(view) {
      const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      for (let i = 0; i < bytes.length; i++) bytes[i] = nextByte();
      return view;
    },
  };

  const lengthOfSequence = (lead) => (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0);
  const decodeUtf8 = (bytes) => {
    let text = '';
    for (let i = 0; i < bytes.length; ) {
      const lead = bytes[i++];
      if (lead < 0x80) { text += String.fromCharCode(lead); continue; }
      const rest = lengthOfSequence(lead) - 1;
      let point = lead & (0x3f >> Math.max(rest, 0));
      let valid = rest > 0 && i + rest <= bytes.length;
      for (let k = 0; valid && k < rest; k++) {
        valid = (bytes[i + k] & 0xc0) === 0x80;
        point = (point << 6) | (bytes[i + k] & 0x3f);
      }
      if (!valid || point > 0x10ffff) { text += '\ufffd'; continue; }
      text += String.fromCodePoint(point);
      i += rest;
    }
    return text;
  };
  const decodeUtf16 = (bytes) => {
    let text = '';
    for (let i = 0; i + 1 < bytes.length; i += 2) text += String.fromCharCode(bytes[i] | (bytes[i + 1] << 8));
    return text;
  };
  const bytesOf = (data) =>
    ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
  realm.TextDecoder = class TextDecoder {
    constructor(encoding = 'utf-8') { this.encoding = encoding; }
    decode(data) {
      if (!data) return '';
      return this.encoding === 'utf-16le' ? decodeUtf16(bytesOf(data)) : decodeUtf8(bytesOf(data));
    }
  };
  const encodeUtf8 = (text) => {
    const bytes = [];
    for (const character of String(text)) {
      let point = character.codePointAt(0);
      if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
      if (point < 0x80) bytes.push(point);
      else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
      else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
      else bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    }
    return new Uint8Array(bytes);
  };
  realm.TextEncoder = class TextEncoder {
    encode(text) { return encodeUtf8(text); }
    encodeInto(text, target) {
      const bytes = encodeUtf8(text);
      const written = Math.min(bytes.length, target.length);
      target.set(bytes.subarray(0, written));
      return { read: String(text).length, written };
    }
  };

  return {
    seed,
    buffer: (length) => new ArrayBuffer(length),
    putFile: (name, buffer) => { files[name] = buffer; },
    dropFiles: () => { for (const name of Object.keys(files)) delete files[name]; },
    closeTimers: () => { timersOpen = false; },
  };
})()
`;
