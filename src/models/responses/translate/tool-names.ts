import { shortName } from '../../providers/fit/tool-name.ts';

/** A tool as a request in the Responses dialect names it. `search` finds further tools. The caller runs all tools. */
export type CalledTool = {
  readonly kind: 'function' | 'custom' | 'search';
  readonly name: string;
  /** Some tools stand in a namespace, which chat does not have. */
  readonly namespace?: string;
};

/** Tools by the names of the functions that stand for them in chat. */
export type ToolNames = ReadonlyMap<string, CalledTool>;

/** The tool of type `tool_search` has no other name. */
export const SEARCH_TOOL: CalledTool = { kind: 'search', name: 'tool_search' };

/** Returns the name of a tool in chat, cut when it is too long for chat. */
export const chatName = ({ name, namespace }: Pick<CalledTool, 'name' | 'namespace'>): string =>
  shortName(namespace === undefined ? name : `${namespace}__${name}`);
