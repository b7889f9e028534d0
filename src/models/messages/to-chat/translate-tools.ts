import { isObject, type Json } from '../../../kernel/json.ts';
import { unfit } from '../../providers/anthropic/unfit-request.ts';
import { completeSchema, type SchemaRoom, schemaRoom } from '../../providers/fit/object-schema.ts';
import { shortName } from '../../providers/fit/tool-name.ts';
import type { MessagesRequest } from '../messages-request.ts';
import { offeredTools } from './offered-tools.ts';
import { mayBeStrict } from './strict-schema.ts';

type ToolFields = {
  readonly tools?: readonly Json[];
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: false;
};

/** Translates the tools of a request and the choice among them. Returns no members when the request has no tools. */
export function translateToolFields(request: MessagesRequest): ToolFields {
  const { tool_choice: choice } = request;
  const tools = offeredTools(request);
  if (tools.length === 0) {
    if (choice?.type === 'any' || choice?.type === 'tool') unfit('tool_choice needs tools.');
    return {};
  }
  const rooms: Rooms = { items: schemaRoom(), strict: schemaRoom() };
  return {
    tools: tools.map(([tool, place]) => translateTool(tool, place, rooms)),
    ...(choice !== undefined && choice !== null && { tool_choice: translateChoice(choice) }),
    ...(choice?.disable_parallel_tool_use === true && { parallel_tool_calls: false }),
  };
}

/** Remaining numbers of schema parts for the two passes over a request's schemas. */
type Rooms = { readonly items: SchemaRoom; readonly strict: SchemaRoom };

function translateTool(tool: unknown, at: string, rooms: Rooms): Json {
  if (!isObject(tool)) return unfit(`${at} must be an object.`);
  const { description, input_schema: schema, name, strict, type } = tool;
  if (type !== undefined && type !== null && type !== 'custom') {
    return unfit(`${at}.type must be "custom": this model knows no tools of its own.`);
  }
  if (typeof name !== 'string') return unfit(`${at}.name must be a string.`);
  if (!isObject(schema)) return unfit(`${at}.input_schema must be an object.`);
  const parameters = completeSchema(schema, rooms.items);
  return {
    type: 'function',
    function: {
      name: shortName(name),
      ...(typeof description === 'string' && { description }),
      parameters,
      ...(strict === true && { strict: mayBeStrict(parameters, rooms.strict) }),
    },
  };
}

function translateChoice({ name, type }: Json): unknown {
  switch (type) {
    case 'auto':
    case 'none':
      return type;
    case 'any':
      return 'required';
    case 'tool':
      if (typeof name === 'string') {
        return { type: 'function', function: { name: shortName(name) } };
      }
      return unfit('tool_choice.name must be a string.');
    default:
      return unfit('tool_choice.type must be auto, any, tool or none.');
  }
}
