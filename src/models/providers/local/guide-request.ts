import { EngineInputRefused, type GuideFormat, type GuideTool } from '../../../engines/engine.ts';
import { ENGINE_LIMITS } from '../../../engines/limits.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { findUnserved, UNSERVED } from '../unserved-features.ts';

/** Parameters of a chat request for the guide, beside its messages. */
type GuideParameters = {
  readonly tools?: readonly GuideTool[];
  readonly mustCall?: boolean;
  readonly format?: GuideFormat;
  readonly stop?: readonly string[];
};

/**
 * Reads the parameters of the built-in responder. Throws EngineInputRefused, with the member, for features that it lacks: log
 * probabilities, sound, tools that are no functions. Members that only influence a model's choice of words (`temperature`,
 * `seed`, penalties) or its speed (`prediction`) have no effect on an answer that is always the same.
 */
export function readGuideParameters(body: Json): GuideParameters {
  const unserved = findUnserved(body, UNSERVED);
  if (unserved !== undefined) refuse(unserved.detail, unserved.param);
  return { ...readTools(body), ...readFormat(body), ...readStop(body) };
}

function refuse(detail: string, param: string): never {
  throw new EngineInputRefused(detail, param);
}

function readTools(body: Json): Pick<GuideParameters, 'tools' | 'mustCall'> {
  const { tool_choice: choice, tools: given } = body;
  if (given !== undefined && given !== null && !Array.isArray(given)) {
    return refuse('tools must be a list.', 'tools');
  }
  const tools = ((given ?? []) as unknown[]).map(readTool);
  const chars = tools.reduce((sum, { parameters }) => sum + charsOf(parameters), 0);
  requireSize(chars, 'The schemas of all tools', 'tools');
  const { isDemanded, names } = readChoice(choice);
  const offered = names === undefined ? tools : tools.filter(({ name }) => names.includes(name));
  if (isDemanded && offered.length === 0) {
    refuse('tool_choice asks for a tool that is not in tools.', 'tool_choice');
  }
  return offered.length === 0 ? {} : { tools: offered, ...(isDemanded && { mustCall: true }) };
}

function readTool(tool: unknown, index: number): GuideTool {
  const at = `tools.${index}`;
  const definition = isObject(tool) && tool.type === 'function' ? tool.function : undefined;
  if (!isObject(definition)) return refuse(`${at} must be a function.`, at);
  const { description, name, parameters } = definition;
  if (typeof name !== 'string' || name === '') {
    return refuse(`${at}.function.name must be a text.`, `${at}.function.name`);
  }
  const place = `${at}.function.parameters`;
  return {
    name,
    place,
    description: typeof description === 'string' ? description : '',
    ...(parameters !== undefined && parameters !== null && { parameters }),
  };
}

type Choice = { readonly names?: readonly string[]; readonly isDemanded: boolean };

/**
 * Reads the choice of tools: the names of the tools that may be called (all when undefined), and whether a call is required.
 */
function readChoice(choice: unknown): Choice {
  if (choice === undefined || choice === null || choice === 'auto') return { isDemanded: false };
  if (choice === 'none') return { isDemanded: false, names: [] };
  if (choice === 'required') return { isDemanded: true };
  if (isObject(choice)) {
    const { allowed_tools: allowed, function: called, type } = choice;
    const name = nameOf(choice);
    if (type === 'function' && isObject(called) && name !== undefined) {
      return { isDemanded: true, names: [name] };
    }
    if (type === 'allowed_tools' && isObject(allowed) && Array.isArray(allowed.tools)) {
      const names = (allowed.tools as unknown[]).flatMap((tool) => nameOf(tool) ?? []);
      return { isDemanded: allowed.mode === 'required', names };
    }
  }
  return refuse('tool_choice must be auto, none, required or functions by name.', 'tool_choice');
}

function nameOf(tool: unknown): string | undefined {
  const called = isObject(tool) ? tool.function : undefined;
  return isObject(called) && typeof called.name === 'string' ? called.name : undefined;
}

function readFormat({ response_format: format }: Json): Pick<GuideParameters, 'format'> {
  const at = 'response_format';
  if (format === undefined || format === null) return {};
  const { json_schema: named, type } = isObject(format) ? format : {};
  if (type === 'text') return {};
  if (type === 'json_object') return { format: { place: at } };
  if (type !== 'json_schema') {
    return refuse(`${at}.type must be text, json_object or json_schema.`, `${at}.type`);
  }
  if (!isObject(named)) return refuse(`${at}.json_schema is missing.`, `${at}.json_schema`);
  const { schema = {} } = named;
  const place = `${at}.json_schema.schema`;
  requireSize(charsOf(schema), 'The schema of the answer', place);
  return { format: { schema, place } };
}

const charsOf = (schema: unknown): number =>
  schema === undefined ? 0 : JSON.stringify(schema).length;

function requireSize(chars: number, what: string, param: string): void {
  const { schemaChars: guideSchemaChars } = ENGINE_LIMITS.guide;
  if (chars > guideSchemaChars) {
    refuse(`${what} may have ${guideSchemaChars} characters, and not ${chars}.`, param);
  }
}

function readStop({ stop }: Json): Pick<GuideParameters, 'stop'> {
  if (stop === undefined || stop === null) return {};
  const marks = Array.isArray(stop) ? (stop as unknown[]) : [stop];
  return { stop: marks.filter((mark) => typeof mark === 'string') };
}
