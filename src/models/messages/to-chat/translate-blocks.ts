import { isObject, type Json } from '../../../kernel/json.ts';
import { UNTITLED_FILE } from '../../providers/anthropic/document-block.ts';
import { unfit } from '../../providers/anthropic/unfit-request.ts';
import { shownType } from '../../providers/fit/shown-type.ts';
import { blocksOf, sourceOf } from '../read-block.ts';

/** Part of a user's message. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | (Json & { readonly type: string });

export const textPart = (text: unknown, at: string): Part =>
  typeof text === 'string' ? { type: 'text', text } : unfit(`${at}.text must be a string.`);

export const isTextPart = (part: Part): part is Part & { readonly text: string } =>
  part.type === 'text';

/** Returns the blocks of a content, each with its place in the request. Throws UnfitRequest when a block is no object. */
export function placedBlocks(content: unknown, at: string): (readonly [Json, string])[] {
  return blocksOf(content).map((block, index) => {
    const place = `${at}[${index}]`;
    return isObject(block) ? [block, place] : unfit(`${place} must be an object.`);
  });
}

/**
 * Joins the texts of a content that may hold only texts, except blocks for which `isLeftOut` returns true. Throws UnfitRequest
 * for any other block.
 */
export function joinTexts(
  content: unknown,
  at: string,
  between: string,
  isLeftOut: (block: Json) => boolean = () => false,
): string {
  return placedBlocks(content, at)
    .filter(([block]) => !isLeftOut(block))
    .map(([block, place]) => {
      if (block.type !== 'text')
        unfit(`${place}.type must be "text": nothing else can be said here.`);
      return (textPart(block.text, place) as { readonly text: string }).text;
    })
    .join(between);
}

/**
 * Translates a block of a user's message or of a tool result to the parts of a chat message. Throws UnfitRequest for a block
 * that chat cannot express.
 */
export function translateBlock(block: Json, at: string): Part[] {
  switch (block.type) {
    case 'text':
      return [textPart(block.text, at)];
    case 'image':
      return [imagePart(block, at)];
    case 'document':
      return documentParts(block, at);
    case 'search_result':
      return [
        { type: 'text', text: headOf(block, ['title', 'source']) },
        ...placedBlocks(block.content, `${at}.content`).flatMap(([one, place]) =>
          translateBlock(one, place),
        ),
      ];
    default:
      return unfit(`${at}.type has no place in a request to this model.`);
  }
}

function imagePart(block: Json, at: string): Part {
  const { data, media_type: type, type: kind, url } = sourceOf(block);
  if (kind === 'url' && typeof url === 'string') return { type: 'image_url', image_url: { url } };
  if (kind === 'base64' && typeof type === 'string' && typeof data === 'string') {
    const shown = shownType(data) ?? type;
    return { type: 'image_url', image_url: { url: `data:${shown};base64,${data}` } };
  }
  return unfit(`${at}.source must be a URL or base64: this model sees no other files.`);
}

/** Translates a document: text under its title and context, a PDF as a file. */
function documentParts(block: Json, at: string): Part[] {
  const { content, data, media_type: type, type: kind } = sourceOf(block);
  const head = headOf(block, ['title', 'context']);
  const under = (parts: Part[]): Part[] =>
    head === '' ? parts : [{ type: 'text', text: head }, ...parts];
  if (kind === 'text') return under([textPart(data, `${at}.source.data`)]);
  if (kind === 'content') {
    return under(
      placedBlocks(content, `${at}.source.content`).flatMap(([one, place]) =>
        translateBlock(one, place),
      ),
    );
  }
  if (kind === 'base64' && typeof type === 'string' && typeof data === 'string') {
    const filename = typeof block.title === 'string' ? block.title : UNTITLED_FILE;
    return [{ type: 'file', file: { filename, file_data: `data:${type};base64,${data}` } }];
  }
  return unfit(`${at}.source must be text, content or base64: this model reads no other files.`);
}

const headOf = (block: Json, members: readonly string[]): string =>
  members
    .map((name) => block[name])
    .filter((text) => typeof text === 'string' && text !== '')
    .join('\n');
