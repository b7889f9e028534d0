import { textArray } from './pg-array.ts';

/** Array type as the driver wants it declared. */
type ArrayType = {
  readonly to: number;
  readonly from: number[];
  serialize(value: unknown): unknown;
  parse(literal: string): unknown;
};

/**
 * Array types of one dimension, with PostgreSQL's numbers for them. Without these the driver queries the numbers on each new
 * connection and does not handle its end: the rejection would end the process.
 */
export const ARRAY_TYPES = {
  textArray: arrayType(1009, (text) => text),
  int4Array: arrayType(1007, Number),
  int8Array: arrayType(1016, BigInt),
  float8Array: arrayType(1022, Number),
} satisfies Record<string, ArrayType>;

function arrayType(oid: number, element: (text: string) => unknown): ArrayType {
  return {
    to: oid,
    from: [oid],
    // A literal is sent unchanged.
    serialize: (value) => (Array.isArray(value) ? textArray(value.map(textOf)) : value),
    parse: (literal) => parseArray(literal, element),
  };
}

const textOf = (item: unknown): string | null =>
  item === null || item === undefined ? null : String(item);

/** Element of an array literal: in quotes, with backslashes as escapes, or without quotes. */
const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^,{}"]+)/gs;

function parseArray(literal: string, element: (text: string) => unknown): unknown[] {
  const items: unknown[] = [];
  for (const [, quoted, plain = ''] of literal.matchAll(ELEMENT)) {
    if (quoted !== undefined) items.push(element(quoted.replace(/\\(.)/gs, '$1')));
    else items.push(plain === 'NULL' ? null : element(plain));
  }
  return items;
}
