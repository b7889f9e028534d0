import { isObject, type Json } from '../../../kernel/json.ts';
import { type Misfits, NOT_HERE } from './misfit.ts';

const isText = ({ type }: Json): boolean =>
  type === 'input_text' || type === 'output_text' || type === 'text';

/**
 * Translates a content to parts; a text becomes one part. Parts that chat cannot express are noted and kept as JSON. A list
 * with an item that is no part becomes one JSON text, because it may have a hundred thousand items.
 */
export function translateParts(content: unknown, at: string, misfits: Misfits): Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (content === undefined || content === null) return [];
  if (!Array.isArray(content)) {
    misfits.note(at, 'must be a text or a list of parts');
    return [opaque(content)];
  }
  const strange = (content as unknown[]).findIndex((part) => !isTyped(part));
  if (strange !== -1) {
    misfits.note(`${at}[${strange}]`, 'must be an object with a type');
    return [opaque(content)];
  }
  return (content as Json[]).map((part, index) => translatePart(part, `${at}[${index}]`, misfits));
}

const isTyped = (part: unknown): boolean => isObject(part) && typeof part.type === 'string';

function translatePart(part: Json, at: string, misfits: Misfits): Json {
  if (isText(part) && typeof part.text === 'string') return { type: 'text', text: part.text };
  const { detail, file_data, filename, image_url: url, input_audio, refusal, type } = part;
  if (type === 'refusal' && typeof refusal === 'string') return { type: 'text', text: refusal };
  if (type === 'input_image' && typeof url === 'string') {
    return { type: 'image_url', image_url: { url, ...(isName(detail) && { detail }) } };
  }
  if (type === 'input_file' && typeof file_data === 'string') {
    return { type: 'file', file: { ...(isName(filename) && { filename }), file_data } };
  }
  if (type === 'input_audio' && isObject(input_audio)) return { type, input_audio };
  misfits.note(at, whyNot(part));
  return opaque(part);
}

const isName = (value: unknown): value is string => typeof value === 'string';

function whyNot({ type, file_id: fileId, file_url: fileUrl }: Json): string {
  if (type === 'input_image' || type === 'input_file') {
    if (typeof fileId === 'string') return `names an uploaded file, which ${NOT_HERE}`;
    if (typeof fileUrl === 'string') return `names a file by its address, which ${NOT_HERE}`;
    return 'has neither an address nor data';
  }
  return `is of type ${JSON.stringify(type)}, which ${NOT_HERE}`;
}

/** Returns a text part with the JSON of a value that chat cannot express, so that its length counts. */
const opaque = (value: unknown): Json => ({ type: 'text', text: JSON.stringify(value) ?? '' });

/** Joins the texts of parts. Undefined when a part is no text. */
export function plainText(parts: readonly Json[]): string | undefined {
  let text = '';
  for (const part of parts) {
    if (part.type !== 'text') return undefined;
    text += String(part.text);
  }
  return text;
}
