import { isObject, type Json } from '../../kernel/json.ts';

/** The blocks of a content: text alone is one block of text, nothing is none. */
export function blocksOf(content: unknown): readonly unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content : [];
}

/** The source of an image or a document, or one without members. */
export const sourceOf = ({ source }: Json): Json => (isObject(source) ? source : {});

/** The tool that a block defines for the turns behind it, as one of `tools` is; undefined where it defines none. */
export const definedTool = ({ tool, type }: Json): unknown =>
  type === 'tool_addition' && isObject(tool) && tool.type === 'tool_definition'
    ? tool.definition
    : undefined;
