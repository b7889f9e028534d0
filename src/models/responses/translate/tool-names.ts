import { shortName } from '../../providers/fit/tool-name.ts';

/** A tool as a request in the Responses dialect names it. `search` finds further tools. The caller runs all tools. */
export type CalledTool = {
  readonly kind: 'function' | 'custom' | 'search';
  readonly name: string;
  /** Namespace of the tool, which chat does not have. Undefined: none. */
  readonly namespace?: string;
};

/** Tools, by the names of the functions that replace them in chat. */
export type ToolNames = ReadonlyMap<string, CalledTool>;

/** Tool of type `tool_search`, which has only this name. */
export const SEARCH_TOOL: CalledTool = { kind: 'search', name: 'tool_search' };

/** Returns the name of a tool in chat, cut when it is too long for chat. */
export const chatName = ({ name, namespace }: Pick<CalledTool, 'name' | 'namespace'>): string =>
  shortName(namespace === undefined ? name : `${namespace}__${name}`);
