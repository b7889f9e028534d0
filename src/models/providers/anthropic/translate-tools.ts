import { isObject, type Json } from '../../../kernel/json.ts';
import { closedSchema } from '../fit/closed-schema.ts';
import { objectSchema } from '../fit/object-schema.ts';
import { type CacheMark, cacheMark } from './cache-mark.ts';
import { unfit } from './unfit-request.ts';

type Tool = CacheMark & {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: Json;
  readonly strict?: true;
};

type ToolChoice = {
  readonly type: 'auto' | 'none' | 'any' | 'tool';
  readonly name?: string;
  readonly disable_parallel_tool_use?: true;
};

export type ToolFields = { readonly tools?: readonly Tool[]; readonly tool_choice?: ToolChoice };

/** Schema for a tool without parameters: the dialect demands one of every tool. */
const NO_PARAMETERS: Json = { type: 'object', properties: {} };

/** Translates the tools of a request and the choice among them. Returns no members when the request has no tools. */
export function translateTools(request: Json): ToolFields {
  const tools = translateDefinitions(request.tools);
  const choice = translateChoice(request.tool_choice);
  if (tools.length === 0) {
    if (choice?.type === 'any' || choice?.type === 'tool') unfit('tool_choice needs tools.');
    return {};
  }
  if (request.parallel_tool_calls !== false || choice?.type === 'none') {
    return { tools, ...(choice && { tool_choice: choice }) };
  }
  return { tools, tool_choice: { type: 'auto', ...choice, disable_parallel_tool_use: true } };
}

function translateDefinitions(tools: unknown): Tool[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) return unfit('tools must be a list.');
  return (tools as unknown[]).map((tool, index) => {
    const at = `tools[${index}]`;
    const definition = isObject(tool) && tool.type === 'function' ? tool.function : undefined;
    if (!isObject(tool) || !isObject(definition)) {
      return unfit(`${at} must be a function; no other tools are taken.`);
    }
    const { name, description, parameters, strict } = definition;
    if (typeof name !== 'string') return unfit(`${at}.function.name must be a string.`);
    return {
      name,
      ...(typeof description === 'string' && { description }),
      input_schema: schemaOf(parameters, strict === true),
      ...(strict === true && { strict }),
      // Callers put `cache_control` at either place.
      ...cacheMark(definition, `${at}.function`),
      ...cacheMark(tool, at),
    };
  });
}

function schemaOf(parameters: unknown, isStrict: boolean): Json {
  if (!isObject(parameters)) return isStrict ? closedSchema(NO_PARAMETERS) : NO_PARAMETERS;
  const schema = objectSchema(parameters);
  return isStrict ? closedSchema(schema) : schema;
}

function translateChoice(choice: unknown): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (choice === 'auto' || choice === 'none') return { type: choice };
  if (choice === 'required') return { type: 'any' };
  const named = isObject(choice) && choice.type === 'function' ? choice.function : undefined;
  if (isObject(named) && typeof named.name === 'string') return { type: 'tool', name: named.name };
  return unfit('tool_choice must be auto, none, required or one function.');
}
