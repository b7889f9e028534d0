import { isUtf8 } from 'node:buffer';
import { COPY_BYTES_PER_TURN, joinPieces } from '../../kernel/long-work.ts';
import { decodedValue, readParameters } from './header-parameters.ts';

/** Form by RFC 7578: its fields in order, and its one file. */
export type MultipartForm = {
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly file: FormFile | undefined;
};

export type FormFile = {
  readonly field: string;
  readonly fileName: string;
  readonly contentType: string | undefined;
  readonly bytes: Buffer;
};

export type MultipartBounds = {
  readonly fileBytes: number;
  /** Bytes of all fields together. */
  readonly fieldsBytes: number;
  readonly parts: number;
  readonly partHeadBytes: number;
};

/** Thrown when the body is no multipart form, or a form that is not accepted. */
export class MultipartRefused extends Error {
  override readonly name = 'MultipartRefused';
  readonly why: 'malformed' | 'file_too_large';

  constructor(message: string, why: 'malformed' | 'file_too_large' = 'malformed') {
    super(message);
    this.why = why;
  }
}

const CRLF = '\r\n';
const HEAD_END = Buffer.from('\r\n\r\n');
/** Most characters of white space between a delimiter and the end of its line. */
const MAX_PADDING = 128;
const BOUNDARY = /^[A-Za-z0-9'()+_,./:=? -]{0,69}[A-Za-z0-9'()+_,./:=?-]$/;

/** Reads a form while it arrives. Throws MultipartRefused, and errors of the body itself. */
export async function readMultipart(
  contentType: string | undefined,
  body: AsyncIterable<Uint8Array>,
  bounds: MultipartBounds,
): Promise<MultipartForm> {
  const reader = new MultipartReader(boundaryOf(contentType), bounds);
  for await (const chunk of body) reader.push(chunk);
  return reader.end();
}

function boundaryOf(contentType: string | undefined): string {
  const [type = '', parameters = ''] = splitOnce(contentType ?? '', ';');
  if (type.trim().toLowerCase() !== 'multipart/form-data') {
    throw new MultipartRefused('The body must be multipart/form-data.');
  }
  const boundary = readParameters(parameters).get('boundary');
  if (boundary === undefined || !BOUNDARY.test(boundary)) {
    throw new MultipartRefused('The content type must name a boundary.');
  }
  return boundary;
}

type Part = {
  readonly field: string;
  readonly fileName: string | undefined;
  readonly contentType: string | undefined;
  readonly content: Gathering;
};

class MultipartReader {
  readonly #bounds: MultipartBounds;
  readonly #delimiter: Buffer;
  /** Bytes that cannot be parsed before more bytes have come. The first delimiter may stand at the very beginning. */
  #rest: Buffer = Buffer.from(CRLF);
  #state: 'preamble' | 'delimiter' | 'head' | 'content' | 'over' = 'preamble';
  #part: Part | undefined;
  #parts = 0;
  #fieldsBytes = 0;
  readonly #fields: [string, string][] = [];
  #file: Part | undefined;

  constructor(boundary: string, bounds: MultipartBounds) {
    this.#bounds = bounds;
    this.#delimiter = Buffer.from(`${CRLF}--${boundary}`, 'latin1');
  }

  push(chunk: Uint8Array): void {
    if (this.#state === 'over') return;
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#step()) {
      // Each step shortens the unparsed bytes.
    }
  }

  async end(): Promise<MultipartForm> {
    if (this.#state !== 'over')
      throw new MultipartRefused('The form ends before its last boundary.');
    return { fields: this.#fields, file: this.#file && (await fileOf(this.#file)) };
  }

  /** Parses one step. Returns false when the unparsed bytes are too few for a step. */
  #step(): boolean {
    switch (this.#state) {
      case 'preamble':
      case 'content':
        return this.#untilDelimiter();
      case 'delimiter':
        return this.#delimiterLine();
      case 'head':
        return this.#head();
      case 'over':
        return false;
    }
  }

  #untilDelimiter(): boolean {
    const at = this.#rest.indexOf(this.#delimiter);
    const certain = at === -1 ? this.#rest.length - this.#delimiter.length + 1 : at;
    if (certain > 0) this.#content(this.#rest.subarray(0, certain));
    if (at === -1) {
      if (certain > 0) this.#rest = this.#rest.subarray(certain);
      return false;
    }
    this.#rest = this.#rest.subarray(at + this.#delimiter.length);
    this.#finishPart();
    this.#state = 'delimiter';
    return true;
  }

  #delimiterLine(): boolean {
    if (this.#rest.length >= 2 && this.#rest.toString('latin1', 0, 2) === '--') {
      this.#state = 'over';
      this.#rest = Buffer.alloc(0);
      return false;
    }
    const end = this.#rest.indexOf(CRLF);
    if (end === -1) {
      if (this.#rest.length > MAX_PADDING) throw malformed('a boundary is not followed by a line');
      return false;
    }
    if (/[^ \t]/.test(this.#rest.toString('latin1', 0, end))) {
      throw malformed('a boundary is not followed by a line');
    }
    // The line's end stays: in a part without headers nothing else stands before the empty line.
    this.#rest = this.#rest.subarray(end);
    this.#state = 'head';
    return true;
  }

  #head(): boolean {
    const end = this.#rest.indexOf(HEAD_END);
    if ((end === -1 ? this.#rest.length : end) > this.#bounds.partHeadBytes) {
      throw malformed('the headers of a part are too long');
    }
    if (end === -1) return false;
    this.#parts += 1;
    if (this.#parts > this.#bounds.parts) {
      throw malformed(`it has more than ${this.#bounds.parts} parts`);
    }
    this.#part = this.#beginPart(this.#rest.subarray(0, end));
    this.#rest = this.#rest.subarray(end + HEAD_END.length);
    this.#state = 'content';
    return true;
  }

  #beginPart(head: Buffer): Part {
    if (!isUtf8(head)) throw malformed('the headers of a part are not UTF-8');
    const headers = readHeaders(head.toString('utf8'));
    const [kind = '', parameters = ''] = splitOnce(headers.get('content-disposition') ?? '', ';');
    const named = readParameters(parameters);
    const field = named.get('name');
    if (kind.trim().toLowerCase() !== 'form-data' || field === undefined) {
      throw malformed('a part has no name');
    }
    const fileName = named.get('filename') ?? decodedValue(named.get('filename*'));
    if (fileName !== undefined && this.#file !== undefined) throw malformed('it has two files');
    const { fileBytes, fieldsBytes } = this.#bounds;
    const most = fileName === undefined ? fieldsBytes - this.#fieldsBytes : fileBytes;
    return {
      field,
      fileName,
      contentType: headers.get('content-type'),
      content: new Gathering(Math.max(0, most)),
    };
  }

  #content(bytes: Buffer): void {
    if (this.#part === undefined || this.#part.content.add(bytes)) return;
    if (this.#part.fileName === undefined) throw malformed('its fields are too long');
    throw new MultipartRefused('The file is too large.', 'file_too_large');
  }

  #finishPart(): void {
    const part = this.#part;
    if (part === undefined) return;
    this.#part = undefined;
    const { content, field, fileName } = part;
    if (fileName !== undefined) {
      this.#file = part;
      return;
    }
    this.#fieldsBytes += content.length;
    const bytes = content.text();
    if (!isUtf8(bytes)) throw malformed(`the field "${field}" is not UTF-8`);
    this.#fields.push([field, bytes.toString('utf8')]);
  }
}

const fileOf = async ({ content, contentType, field, fileName = '' }: Part): Promise<FormFile> => ({
  field,
  fileName,
  contentType,
  bytes: await content.bytes(),
});

const malformed = (what: string) => new MultipartRefused(`The form cannot be read: ${what}.`);

/**
 * Gathers bytes in blocks that double up to a bound: pieces of a byte each would otherwise cost a hundred times their bytes.
 */
class Gathering {
  readonly #most: number;
  readonly #full: Buffer[] = [];
  #block: Buffer = Buffer.alloc(0);
  #inBlock = 0;
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds bytes. Returns false when the part would exceed its bound. */
  add(bytes: Buffer): boolean {
    if (this.#length + bytes.length > this.#most) return false;
    this.#length += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      if (this.#inBlock === this.#block.length) this.#nextBlock(bytes.length - at);
      const copied = bytes.copy(this.#block, this.#inBlock, at);
      this.#inBlock += copied;
      at += copied;
    }
    return true;
  }

  text(): Buffer {
    return Buffer.concat([...this.#full, this.#block.subarray(0, this.#inBlock)], this.#length);
  }

  /** Joins the content; that of a long file in several turns of the event loop. */
  bytes(): Buffer | Promise<Buffer> {
    return joinPieces([...this.#full, this.#block.subarray(0, this.#inBlock)]);
  }

  #nextBlock(wanted: number): void {
    if (this.#inBlock > 0) this.#full.push(this.#block);
    const size = Math.max(1_024, wanted, 2 * this.#block.length);
    this.#block = Buffer.allocUnsafeSlow(Math.min(size, COPY_BYTES_PER_TURN));
    this.#inBlock = 0;
  }
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function readHeaders(head: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of head.split(CRLF)) {
    const [name, value] = splitOnce(line, ':');
    if (name !== '') headers.set(name.trim().toLowerCase(), value.trim());
  }
  return headers;
}
