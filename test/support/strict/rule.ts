export type Json = Readonly<Record<string, unknown>>;

/** A request as a vendor gets it: the text tells what JSON.parse hides. */
export type Sent = {
  readonly path: string;
  readonly headers: Json;
  readonly text: string;
  readonly body: Json;
};

/** Something that a vendor refuses. */
export type Rule = {
  /** The page, the published schema or the error of the vendor that says so. */
  readonly source: string;
  /** A body that this rule refuses. */
  readonly broken: Json;
  /** The headers that this body comes with. */
  readonly under?: Json;
  /** The sentence of the refusal. Undefined: the request keeps the rule. */
  readonly objection: (sent: Sent) => string | undefined;
};

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const listOf = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? (value as unknown[]).filter(isObject) : [];

export const isBlank = (value: unknown): boolean =>
  typeof value === 'string' && value.trim() === '';

/** The first sentence that one of the values gives. */
export function firstOf<T>(
  values: Iterable<T>,
  sentence: (value: T, at: number) => string | undefined,
): string | undefined {
  let at = 0;
  for (const value of values) {
    const said = sentence(value, at++);
    if (said !== undefined) return said;
  }
  return undefined;
}

/** Every part of a schema that is a schema itself. */
export function* schemasIn(schema: unknown): Generator<Json> {
  if (!isObject(schema)) return;
  yield schema;
  for (const map of ['properties', '$defs', 'definitions', 'patternProperties']) {
    for (const one of isObject(schema[map]) ? Object.values(schema[map]) : [])
      yield* schemasIn(one);
  }
  for (const list of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    if (Array.isArray(schema[list])) for (const one of schema[list]) yield* schemasIn(one);
  }
  for (const one of ['items', 'additionalProperties', 'not']) yield* schemasIn(schema[one]);
}

const HEADS: readonly (readonly [type: string, head: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['application/pdf', /^%PDF-/],
];

/** The media type that the first bytes of base64 show. */
export function typeOfBytes(base64: string): string | undefined {
  const head = Buffer.from(base64.slice(0, 24), 'base64').toString('latin1');
  return HEADS.find(([, pattern]) => pattern.test(head))?.[0];
}

/** Whether a text of JSON has half of a pair of surrogates, escaped. */
function hasLoneSurrogate(text: string): boolean {
  let open = -1;
  for (const { 0: whole, 1: code, index } of text.matchAll(/\\(?:u([0-9a-f]{4})|.)/gi)) {
    const unit = code === undefined ? 0 : Number.parseInt(code, 16) & 0xfc00;
    const closes = unit === 0xdc00 && open === index;
    if ((open !== -1 || unit === 0xdc00) && !closes) return true;
    open = unit === 0xd800 ? index + whole.length : -1;
  }
  return open !== -1;
}

/** What no vendor's parser of JSON takes. */
export const JSON_RULES: readonly Rule[] = [
  {
    source:
      'https://www.rfc-editor.org/rfc/rfc8259#section-8.2; https://github.com/anthropics/claude-code/issues/60394',
    broken: { note: '\ud83d' },
    objection: ({ text }) =>
      hasLoneSurrogate(text)
        ? 'The request body is not valid JSON: no low surrogate in string'
        : undefined,
  },
];

/** The sentence of the first rule that refuses the request. */
export const objectionOf = (rules: readonly Rule[], sent: Sent): string | undefined =>
  firstOf([...JSON_RULES, ...rules], (rule) => rule.objection(sent));
