import { newId } from '../../../kernel/ids.ts';
import type { Random } from '../../../kernel/random.ts';

/** A multipart form in pieces, so that the file in it is not copied. */
export type FormBody = {
  readonly contentType: string;
  readonly length: number;
  readonly pieces: readonly Buffer[];
};

/** Writes a form as RFC 7578 has it: fields first, then the file, whose bytes go out as they are. */
export function writeForm(
  random: Random,
  fields: readonly (readonly [name: string, value: string])[],
  file: {
    readonly name: string;
    readonly contentType: string;
    readonly bytes: Buffer;
    /** Under which name it stands in the form. */
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

/** As browsers write names, so that none can end its own header. */
const escaped = (name: string): string =>
  name.replace(/["\r\n]/g, (mark) => encodeURIComponent(mark));

const oneLine = (type: string): string => type.replace(/[^\x20-\x7e]/g, '');
