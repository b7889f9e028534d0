import { isObject, type Json } from '../../../kernel/json.ts';
import { type Effort, nearestEffort } from '../efforts.ts';
import { closedSchema } from '../fit/closed-schema.ts';
import { unfit } from './unfit-request.ts';

export type OutputConfig = {
  readonly format?: { readonly type: 'json_schema'; readonly schema: Json };
  readonly effort?: Effort;
};

/**
 * Returns the requested format and effort of an answer in the dialect's one member for both; undefined when the request has no
 * such preference. The dialect always enforces a schema, so `strict` has no counterpart, and the schema's name is dropped.
 */
export function outputConfig(
  request: Json,
  efforts: readonly Effort[] | undefined,
): OutputConfig | undefined {
  const format = formatOf(request.response_format);
  const effort = nearestEffort(request.reasoning_effort, efforts);
  if (format === undefined) return effort && { effort };
  return effort === undefined ? { format } : { format, effort };
}

/** Returns the output format of the dialect. Formats that the dialect lacks were refused earlier. */
function formatOf(format: unknown): OutputConfig['format'] {
  if (!isObject(format) || format.type !== 'json_schema') return undefined;
  const { json_schema: named } = format;
  const schema = isObject(named) ? named.schema : undefined;
  return isObject(schema)
    ? { type: 'json_schema', schema: closedSchema(schema) }
    : unfit('response_format.json_schema.schema must be an object.');
}
