import { isObject, type Json } from '../../../kernel/json.ts';

/** A schema of parameters that says what every vendor asks for: it is an object, and has `properties`. The same where it says so. */
export function objectSchema(schema: Json): Json {
  const { properties, type } = schema;
  if (type === 'object' && isObject(properties)) return schema;
  if (typeof type === 'string' && type !== 'object') return schema;
  return Object.assign({ type: 'object' }, schema, {
    type: 'object',
    properties: isObject(properties) ? properties : {},
  });
}
