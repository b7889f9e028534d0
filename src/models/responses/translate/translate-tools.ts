import { isObject, type Json } from '../../../kernel/json.ts';
import type { ResponsesRequest } from '../responses-request.ts';
import { type Misfits, NOT_HERE } from './misfit.ts';

/** What a function is called in a request for a response: some stand in a namespace, which chat does not have. */
export type FunctionName = { readonly name: string; readonly namespace?: string };

/** The names of functions in chat, and what they stand for where they are not the same. */
export type FunctionNames = ReadonlyMap<string, FunctionName>;

export type TranslatedTools = {
  /** Members of a chat request. */
  readonly members: Json;
  readonly names: FunctionNames;
};

/** The longest that OpenAI takes for the name of a function in chat. */
const NAME_CHARS = 64;

/** A function of a namespace as chat calls it. */
export const chatName = ({ name, namespace }: FunctionName): string =>
  namespace === undefined ? name : `${namespace}__${name}`;

/** The tools of a chat request, and which of them may or must be called. Tools that are no functions are noted. */
export function translateTools(
  { parallel_tool_calls: parallel, tool_choice: choice, tools }: ResponsesRequest,
  misfits: Misfits,
): TranslatedTools {
  const names = new Map<string, FunctionName>();
  const translated = (tools ?? []).flatMap((tool, index) =>
    translateTool(tool, `tools[${index}]`, misfits, names),
  );
  if (translated.length === 0) return { members: {}, names };
  const members = {
    tools: translated,
    ...(isSet(choice) && { tool_choice: translateChoice(choice, tools ?? [], names, misfits) }),
    ...(isSet(parallel) && { parallel_tool_calls: parallel }),
  };
  return { members, names };
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

function translateTool(
  tool: Json,
  at: string,
  misfits: Misfits,
  names: Map<string, FunctionName>,
): Json[] {
  if (tool.type === 'function') return [functionOf(tool)];
  const { name: namespace, tools, type } = tool;
  if (type !== 'namespace' || typeof namespace !== 'string' || !Array.isArray(tools)) {
    misfits.note(at, `is of type ${JSON.stringify(type)}, which ${NOT_HERE}`);
    return [tool];
  }
  return (tools as unknown[]).map((inner, index) => {
    const place = `${at}.tools[${index}]`;
    if (!isObject(inner) || inner.type !== 'function' || typeof inner.name !== 'string') {
      misfits.note(place, `is no function, which ${NOT_HERE}`);
      return { type: 'function', function: inner };
    }
    const called = { name: inner.name, namespace };
    const name = chatName(called);
    if (name.length > NAME_CHARS || names.has(name)) {
      misfits.note(
        place,
        'has no name of its own in chat, where it begins with that of its namespace',
      );
    }
    names.set(name, called);
    return functionOf({ ...inner, name });
  });
}

const functionOf = ({ description, name, parameters, strict }: Json): Json => ({
  type: 'function',
  function: {
    name,
    ...(isSet(description) && { description }),
    ...(isSet(parameters) && { parameters }),
    ...(isSet(strict) && { strict }),
  },
});

function translateChoice(
  choice: unknown,
  tools: readonly Json[],
  names: FunctionNames,
  misfits: Misfits,
): unknown {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (isObject(choice)) {
    const { mode, tools: allowed, type } = choice;
    const named = namedFunction(choice, tools, names);
    if (named !== undefined) return named;
    if (type === 'allowed_tools' && Array.isArray(allowed)) {
      const functions = (allowed as unknown[]).map((tool, index) => {
        const found = isObject(tool) ? namedFunction(tool, tools, names) : undefined;
        if (found !== undefined) return found;
        misfits.note(`tool_choice.tools[${index}]`, `is no function, which ${NOT_HERE}`);
        return tool;
      });
      return { type, allowed_tools: { mode, tools: functions } };
    }
  }
  misfits.note('tool_choice', `asks for what ${NOT_HERE}`);
  return choice;
}

/** Undefined: it names no function. One of a namespace may be named without it where no other function is called so. */
function namedFunction(
  { name, namespace, type }: Json,
  tools: readonly Json[],
  names: FunctionNames,
): Json | undefined {
  if (type !== 'function' || typeof name !== 'string') return undefined;
  if (typeof namespace === 'string') return functionCalled(chatName({ name, namespace }));
  if (tools.some((tool) => tool.type === 'function' && tool.name === name)) {
    return functionCalled(name);
  }
  const within = [...names].filter(([, called]) => called.name === name);
  return functionCalled(within.length === 1 ? (within[0]?.[0] ?? name) : name);
}

const functionCalled = (name: string): Json => ({ type: 'function', function: { name } });
