import { shortName } from '../../providers/fit/tool-name.ts';

/** A tool as a request for a response names it. `search` finds further tools; like all of these, the caller runs it. */
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

/** The name in chat of a tool. One that is too long for chat is cut. */
export const chatName = ({ name, namespace }: Pick<CalledTool, 'name' | 'namespace'>): string =>
  shortName(namespace === undefined ? name : `${namespace}__${name}`);
