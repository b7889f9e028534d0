import { isObject, type Json } from '../../../kernel/json.ts';
import { unfit } from '../../providers/anthropic/unfit-request.ts';
import type { MessagesRequest } from '../messages-request.ts';
import { placedBlocks } from './translate-blocks.ts';

/** Types of blocks in system turns that add or remove tools for the following turns. */
const CHANGES: ReadonlySet<unknown> = new Set(['tool_addition', 'tool_removal']);

export const isToolChange = ({ type }: Json): boolean => CHANGES.has(type);

type Placed = readonly [tool: unknown, place: string];

/**
 * Returns the tools that the model may call at the end of the conversation, each with its place in the request: tools of the
 * request and of turns, without tools that a later turn withdrew.
 */
export function offeredTools({ messages, tools }: MessagesRequest): readonly Placed[] {
  const declared = (tools ?? []).map((tool, index): Placed => [tool, `tools[${index}]`]);
  if (!messages.some(changesTools)) return declared;
  const changes = messages.flatMap((turn, index) =>
    changesTools(turn)
      ? placedBlocks(turn.content, `messages[${index}].content`).filter(([block]) =>
          isToolChange(block),
        )
      : [],
  );
  const known = new Map(declared.map((placed) => [nameOf(placed[0]), placed]));
  const withdrawn = new Set<unknown>();
  for (const [{ tool, type }, place] of changes) {
    const { definition, name: told, type: kind } = isObject(tool) ? tool : ({} as Json);
    const isDefined = type === 'tool_addition' && kind === 'tool_definition';
    const name = isDefined ? nameOf(definition) : told;
    if (isDefined) known.set(name, [definition, `${place}.tool.definition`]);
    else if (kind !== 'tool_reference' || !known.has(name)) {
      unfit(`${place}.tool must refer to a tool of this request: this model knows no others.`);
    }
    if (type === 'tool_removal') withdrawn.add(name);
    else withdrawn.delete(name);
  }
  return [...known].flatMap(([name, placed]) => (withdrawn.has(name) ? [] : [placed]));
}

const changesTools = ({ content, role }: MessagesRequest['messages'][number]): boolean =>
  role === 'system' &&
  Array.isArray(content) &&
  content.some((block) => isObject(block) && isToolChange(block));

const nameOf = (tool: unknown): unknown => (isObject(tool) ? tool.name : undefined);
