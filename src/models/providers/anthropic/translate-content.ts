import { isObject, type Json } from '../../../kernel/json.ts';
import { shownType } from '../fit/shown-type.ts';
import { type CacheMark, cacheMark } from './cache-mark.ts';
import { readDataUrl } from './data-url.ts';
import { type DocumentBlock, documentBlock } from './document-block.ts';
import { unfit } from './unfit-request.ts';

export type TextBlock = CacheMark & { readonly type: 'text'; readonly text: string };

export type ImageBlock = CacheMark & {
  readonly type: 'image';
  readonly source:
    | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
    | { readonly type: 'url'; readonly url: string };
};

/** Block of a user's message or of a tool's result. */
export type ContentBlock = TextBlock | ImageBlock | DocumentBlock;

/**
 * Translates the content of a message that may hold only text. Blank texts are left out, because the dialect refuses them.
 * Throws UnfitRequest for other parts.
 */
export function translateText(content: unknown, at: string): TextBlock[] {
  return translateParts(content, at, (part, place) => {
    const text = part.type === 'refusal' ? part.refusal : part.text;
    if (part.type !== 'text' && part.type !== 'refusal') {
      unfit(`${place}.type must be "text": nothing else can be said in this role.`);
    }
    return textBlock(text, place);
  });
}

/** Translates the texts, images and files of a message. Throws UnfitRequest for other parts. */
export function translateContent(content: unknown, at: string): ContentBlock[] {
  return translateParts<ContentBlock>(content, at, (part, place) => {
    if (part.type === 'text') return textBlock(part.text, place);
    if (part.type === 'image_url') return imageBlock(part.image_url, `${place}.image_url`);
    if (part.type === 'file') return documentBlock(part.file, `${place}.file`);
    return unfit(
      `${place}.type must be "text", "image_url" or "file"; this model takes no other parts.`,
    );
  });
}

/** Translates a message's content, which may be text, a list of parts, or missing. */
function translateParts<T extends object>(
  content: unknown,
  at: string,
  translate: (part: Json, place: string) => T | TextBlock,
): (T | TextBlock)[] {
  if (content === undefined || content === null) return [];
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(parts)) unfit(`${at}.content must be text or a list of parts.`);
  return (parts as unknown[])
    .map((part, index) => {
      const place = `${at}.content[${index}]`;
      if (!isObject(part)) return unfit(`${place} must be an object.`);
      return { ...translate(part, place), ...cacheMark(part, place) };
    })
    .filter((block) => !isBlankText(block));
}

/** Returns true for a text that is empty or only white space. */
export const isBlank = (text: string): boolean => !/\S/.test(text);

export const isBlankText = (block: unknown): boolean =>
  isObject(block) && block.type === 'text' && typeof block.text === 'string' && isBlank(block.text);

function textBlock(text: unknown, place: string): TextBlock {
  return typeof text === 'string'
    ? { type: 'text', text }
    : unfit(`${place}.text must be a string.`);
}

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'image/jpeg'],
  ['image/jpg', 'image/jpeg'],
  ['image/png', 'image/png'],
  ['image/gif', 'image/gif'],
  ['image/webp', 'image/webp'],
]);

function imageBlock(image: unknown, place: string): ImageBlock {
  const url = isObject(image) ? image.url : undefined;
  if (typeof url !== 'string') return unfit(`${place}.url must be a string.`);
  if (/^https?:\/\//i.test(url)) return { type: 'image', source: { type: 'url', url } };
  const read = readDataUrl(url);
  const mediaType = read && MEDIA_TYPES.get(shownType(read.data) ?? read.mediaType);
  if (read === undefined || mediaType === undefined) {
    return unfit(
      `${place}.url must be an http(s) URL, or a base64 data: URL of a JPEG, PNG, GIF or WebP.`,
    );
  }
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: read.data } };
}
