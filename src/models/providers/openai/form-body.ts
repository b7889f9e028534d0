import { newId } from '../../../kernel/ids.ts';
import type { Random } from '../../../kernel/random.ts';

/** Multipart form in pieces, so that its file is not copied. */
export type FormBody = {
  readonly contentType: string;
  readonly length: number;
  readonly pieces: readonly Buffer[];
};

/** Writes a form as RFC 7578 requires: first the fields, then the file with its bytes unchanged. */
export function writeForm(
  random: Random,
  fields: readonly (readonly [name: string, value: string])[],
  file: {
    readonly name: string;
    readonly contentType: string;
    readonly bytes: Buffer;
    /** Name of the form's field that holds the file. */
    readonly field?: string;
  },
): FormBody {
  const boundary = newId(random, 'form-');
  const head = (name: string, more = '') =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${escaped(name)}"${more}\r\n`;
  const written = fields.map(([name, value]) => `${head(name)}\r\n${value}\r\n`).join('');
  const fileHead = head(file.field ?? 'file', `; filename="${escaped(file.name)}"`);
  const pieces = [
    Buffer.from(`${written}${fileHead}content-type: ${oneLine(file.contentType)}\r\n\r\n`),
    file.bytes,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ];
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: pieces.reduce((sum, { length }) => sum + length, 0),
    pieces,
  };
}

/** Returns a name escaped as browsers do it, so that it cannot end its header. */
const escaped = (name: string): string =>
  name.replace(/["\r\n]/g, (mark) => encodeURIComponent(mark));

const oneLine = (type: string): string => type.replace(/[^\x20-\x7e]/g, '');
