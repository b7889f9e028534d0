import { isObject } from '../../../kernel/json.ts';
import { shownType } from '../fit/shown-type.ts';
import type { CacheMark } from './cache-mark.ts';
import { readDataUrl } from './data-url.ts';
import { unfit } from './unfit-request.ts';

/** Block with a PDF, the only kind of file that the dialect accepts unchanged. */
export type DocumentBlock = CacheMark & {
  readonly type: 'document';
  readonly source: {
    readonly type: 'base64';
    readonly media_type: 'application/pdf';
    readonly data: string;
  };
  readonly title?: string;
};

/** File name of a document without a title, for dialects that need one. */
export const UNTITLED_FILE = 'document.pdf';

const PDF = 'application/pdf';

/** Base64 of `%PDF-`, the first bytes of a PDF. */
const PDF_BASE64 = 'JVBERi';

/**
 * Translates a file part to a document block. Accepts a PDF as a data URL, or as plain base64 that begins like a PDF. Throws
 * UnfitRequest for any other file.
 */
export function documentBlock(file: unknown, place: string): DocumentBlock {
  const { file_data: given, filename } = isObject(file) ? file : {};
  if (typeof given !== 'string') {
    return unfit(`${place}.file_data must be a string: this model reads no files by their ids.`);
  }
  const url = readDataUrl(given);
  const data = given.startsWith(PDF_BASE64) ? given : url?.data;
  const type = url && (shownType(url.data) ?? url.mediaType);
  if (data === undefined || (type !== undefined && type !== PDF)) {
    return unfit(`${place}.file_data must be a PDF, in base64 or as a base64 data: URL.`);
  }
  const source = { type: 'base64' as const, media_type: PDF, data } as const;
  return typeof filename === 'string' && filename !== '' && filename !== UNTITLED_FILE
    ? { type: 'document', source, title: filename }
    : { type: 'document', source };
}
