import { isObject, type Json } from '../../kernel/json.ts';

/** Returns the blocks of a content. A text is one block; any other value that is no list has none. */
export function blocksOf(content: unknown): readonly unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content : [];
}

/** Returns the source of an image or a document; an empty object when the block has none. */
export const sourceOf = ({ source }: Json): Json => (isObject(source) ? source : {});

/** Returns the tool that a block defines for the following turns. Undefined when the block defines none. */
export const definedTool = ({ tool, type }: Json): unknown =>
  type === 'tool_addition' && isObject(tool) && tool.type === 'tool_definition'
    ? tool.definition
    : undefined;
