import { isObject, type Json } from '../../../kernel/json.ts';
import { type Misfits, NOT_HERE } from './misfit.ts';
import { chatName, type ToolNames } from './tool-names.ts';

/** Translates the choice of tools that may or must be called. Notes a choice that names none of the caller's tools. */
export function translateChoice(choice: unknown, names: ToolNames, misfits: Misfits): unknown {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (isObject(choice)) {
    const { mode, tools: allowed, type } = choice;
    const find = finderOf(names);
    const named = find(choice);
    if (named !== undefined) return functionCalled(named);
    if (type === 'allowed_tools' && Array.isArray(allowed)) {
      const functions = (allowed as unknown[]).map((tool, index) => {
        const found = isObject(tool) ? find(tool) : undefined;
        if (found !== undefined) return functionCalled(found);
        misfits.note(`tool_choice.tools[${index}]`, `is no function, which ${NOT_HERE}`);
        return tool;
      });
      return { type, allowed_tools: { mode, tools: functions } };
    }
  }
  misfits.note('tool_choice', `asks for what ${NOT_HERE}`);
  return choice;
}

/** Returns the name in chat of the tool that a choice names. Undefined when the choice names no tool. */
type Finder = (named: Json) => string | undefined;

/**
 * Returns a lookup of tools by the names in a choice. A tool of a namespace may be named without the namespace if no other tool
 * has the name.
 */
function finderOf(names: ToolNames): Finder {
  const alone = namedAlone(names);
  return ({ name, namespace, type }) => {
    if ((type !== 'function' && type !== 'custom') || typeof name !== 'string') return undefined;
    if (typeof namespace === 'string') return chatName({ name, namespace });
    const listed = names.get(name);
    const isListed = listed !== undefined && listed.namespace === undefined;
    return isListed ? name : (alone.get(name) ?? chatName({ name }));
  };
}

/** Returns the chat names of tools by their own names, for names that no other tool shares. */
function namedAlone(names: ToolNames): ReadonlyMap<string, string> {
  const alone = new Map<string, string>();
  const shared = new Set<string>();
  for (const [chat, { name }] of names) {
    if (alone.has(name)) shared.add(name);
    alone.set(name, chat);
  }
  for (const name of shared) alone.delete(name);
  return alone;
}

const functionCalled = (name: string): Json => ({ type: 'function', function: { name } });
