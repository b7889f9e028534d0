import { isObject, type Json } from '../../../kernel/json.ts';
import { completeSchema, schemaRoom } from '../../providers/fit/object-schema.ts';
import type { InputItem, ResponsesRequest } from '../responses-request.ts';
import { functionOfCustom } from './custom-tool.ts';
import { type Misfits, NOT_HERE } from './misfit.ts';
import { type CalledTool, chatName, SEARCH_TOOL, type ToolNames } from './tool-names.ts';
import { bringsTools } from './tools-of-items.ts';
import { translateChoice } from './translate-choice.ts';

export type TranslatedTools = {
  /** Members of the chat request that define and choose tools. */
  readonly members: Json;
  readonly names: ToolNames;
};

/**
 * Translates the tools and the choice among them: tools of the request, then tools that items of the conversation add. Notes
 * tools that the caller does not run.
 */
export function translateTools(
  request: ResponsesRequest,
  items: readonly InputItem[],
  misfits: Misfits,
): TranslatedTools {
  const { parallel_tool_calls: parallel, tool_choice: choice, tools } = request;
  const list = new FunctionList(misfits);
  for (const [index, tool] of (tools ?? []).entries()) list.add(tool, `tools[${index}]`);
  for (const [at, item] of items.entries()) {
    if (!bringsTools(item)) continue;
    for (const [index, tool] of item.tools.entries()) {
      list.addAgain(tool, `input[${at}].tools[${index}]`);
    }
  }
  const { functions, names } = list;
  if (functions.length === 0) return { members: {}, names };
  const members = {
    tools: functions,
    ...(isSet(choice) && { tool_choice: translateChoice(choice, names, misfits) }),
    ...(isSet(parallel) && { parallel_tool_calls: parallel }),
  };
  return { members, names };
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

type Definition = { readonly called: CalledTool; readonly definition: Json };

/** Functions that replace the tools in chat, with unique names. */
class FunctionList {
  readonly functions: Json[] = [];
  readonly names = new Map<string, CalledTool>();
  readonly #misfits: Misfits;
  readonly #room = schemaRoom();

  constructor(misfits: Misfits) {
    this.#misfits = misfits;
  }

  add(tool: Json, at: string): void {
    for (const [place, found] of this.#definitions(tool, at)) this.#list(found, place, false);
  }

  /**
   * Adds a tool from an item. A tool that is listed already stays unchanged, because several searches may find the same tool.
   */
  addAgain(tool: Json, at: string): void {
    for (const [place, found] of this.#definitions(tool, at)) this.#list(found, place, true);
  }

  #definitions(tool: Json, at: string): (readonly [string, Definition])[] {
    const single = definitionOf(tool) ?? searchOf(tool);
    if (single !== undefined) return [[at, single]];
    const { name: namespace, tools, type } = tool;
    if (type !== 'namespace' || typeof namespace !== 'string' || !Array.isArray(tools)) {
      this.#misfits.note(at, `is of type ${JSON.stringify(type)}, which ${NOT_HERE}`);
      this.functions.push(tool);
      return [];
    }
    return (tools as unknown[]).flatMap((inner, index) => {
      const place = `${at}.tools[${index}]`;
      const found = isObject(inner) ? definitionOf(inner, namespace) : undefined;
      if (found !== undefined) return [[place, found] as const];
      this.#misfits.note(place, `is no function, which ${NOT_HERE}`);
      this.functions.push({ type: 'function', function: inner });
      return [];
    });
  }

  #list({ called, definition }: Definition, at: string, isAgain: boolean): void {
    const name = chatName(called);
    const known = this.names.get(name);
    if (known !== undefined && isAgain && isSameTool(known, called)) return;
    const isOwn = known === undefined || (isPlain(known) && isPlain(called));
    if (!isOwn)
      this.#misfits.note(at, 'needs a name of its own in chat, with that of its namespace');
    this.names.set(name, called);
    const { parameters } = definition;
    const complete = isObject(parameters) ? completeSchema(parameters, this.#room) : parameters;
    const named =
      complete === parameters
        ? { ...definition, name }
        : { ...definition, name, parameters: complete };
    this.functions.push({ type: 'function', function: named });
  }
}

const isSameTool = (a: CalledTool, b: CalledTool): boolean =>
  a.kind === b.kind && a.name === b.name && a.namespace === b.namespace;

const isPlain = ({ kind, namespace }: CalledTool): boolean =>
  kind === 'function' && namespace === undefined;

/** Returns the definition of a function or a custom tool. Undefined for any other tool. */
function definitionOf(tool: Json, namespace?: string): Definition | undefined {
  const { name, type } = tool;
  if (type !== 'function' && type !== 'custom') return undefined;
  if (typeof name !== 'string') return undefined;
  const called = { kind: type, name, ...(namespace !== undefined && { namespace }) } as const;
  return { called, definition: type === 'custom' ? functionOfCustom(tool) : functionOf(tool) };
}

/**
 * Returns the definition of a search that the caller runs, which is a function like any other. Undefined for any other tool.
 */
const searchOf = (tool: Json): Definition | undefined =>
  tool.type === 'tool_search' && tool.execution === 'client'
    ? { called: SEARCH_TOOL, definition: functionOf({ ...tool, name: SEARCH_TOOL.name }) }
    : undefined;

const functionOf = ({ description, name, parameters, strict }: Json): Json => ({
  name,
  ...(isSet(description) && { description }),
  ...(isSet(parameters) && { parameters }),
  ...(isSet(strict) && { strict }),
});
