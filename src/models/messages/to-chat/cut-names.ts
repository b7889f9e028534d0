import { isObject } from '../../../kernel/json.ts';
import { shortName } from '../../providers/fit/tool-name.ts';
import type { MessagesRequest } from '../messages-request.ts';
import { definedTool } from '../read-block.ts';

/** Returns the names of tools that are too long for chat, by their shortened names. Undefined when no name is too long. */
export function cutNames({
  messages,
  tools,
}: Pick<MessagesRequest, 'messages' | 'tools'>): ReadonlyMap<string, string> | undefined {
  let cut: Map<string, string> | undefined;
  const look = (tool: unknown) => {
    if (!isObject(tool) || typeof tool.name !== 'string') return;
    const short = shortName(tool.name);
    if (short === tool.name) return;
    cut ??= new Map();
    cut.set(short, tool.name);
  };
  for (const tool of tools ?? []) look(tool);
  for (const { content, role } of messages) {
    if (role !== 'system' || !Array.isArray(content)) continue;
    for (const block of content) if (isObject(block)) look(definedTool(block));
  }
  return cut;
}
