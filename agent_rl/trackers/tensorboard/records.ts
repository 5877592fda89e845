/** Castagnoli's polynomial, bits reversed (RFC 3720, appendix B.4). */
const polynomial = 0x82f63b78;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
  return crc;
});

/** CRC-32C of bytes, an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/*
 * TFRecord, the framing of event files: the length of the payload in 8 bytes, little-endian, its checksum, the payload
 * and its checksum, https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details
 */

const lengthBytes = 8;
const checksumBytes = 4;
const headBytes = lengthBytes + checksumBytes;

/** A checksum of bytes that hold checksums themselves is rotated and shifted. */
const masked = (bytes: Uint8Array): number => {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
};

/** A payload as a record. */
export function record(payload: Uint8Array): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeBigUInt64LE(BigInt(payload.length));
  head.writeUInt32LE(masked(head.subarray(0, lengthBytes)), lengthBytes);
  const tail = Buffer.alloc(checksumBytes);
  tail.writeUInt32LE(masked(payload));
  return Buffer.concat([head, payload, tail]);
}

/** A record in a file. */
interface ReadRecord {
  payload: Buffer;
  /** First byte after it in the file. */
  end: number;
}

/** The whole records at the beginning of a file, up to one that is torn or damaged. */
export function wholeRecords(file: Buffer): ReadRecord[] {
  const records: ReadRecord[] = [];
  for (let start = 0; start + headBytes <= file.length;) {
    const length = Number(file.readBigUInt64LE(start));
    const head = file.subarray(start, start + lengthBytes);
    if (file.readUInt32LE(start + lengthBytes) !== masked(head)) break;
    const end = start + headBytes + length + checksumBytes;
    if (end > file.length) break;
    const payload = file.subarray(start + headBytes, end - checksumBytes);
    if (file.readUInt32LE(end - checksumBytes) !== masked(payload)) break;
    records.push({ payload, end });
    start = end;
  }
  return records;
}
