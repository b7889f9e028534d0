type Schema = Readonly<Record<string, unknown>>;

/** A value that a schema takes, with `text` in one of its string places. */
export type Planted = { readonly place: string; readonly value: unknown };

/** What strings of these names look like to the server; all others are a word. */
const EXAMPLES: Readonly<Record<string, string>> = {
  amountRaw: '1',
  limitRaw: '1000000',
  budgetRaw: '1000000',
  maxSpendRaw: '2000000',
  borrowLimitRaw: '1000000',
  areaCode: '415',
  days: '30',
  limit: '10',
  url: 'http://127.0.0.1:9/x',
  webhookUrl: 'http://127.0.0.1:9/hook',
  audioUrl: 'http://127.0.0.1:9/a.wav',
  documentUrl: 'http://127.0.0.1:9/a.pdf',
  toNumber: '+14155550100',
  phoneNumber: '+14155550100',
  from: '2026-01-01T00:00:00Z',
  to: '2026-01-02T00:00:00Z',
  since: '2026-01-01T00:00:00Z',
  until: '2026-01-02T00:00:00Z',
  expiresAt: '2099-01-01T00:00:00Z',
  recipient: `0x${'1'.repeat(40)}`,
  host: 'vendor.example',
  model: 'local/guide',
  provider: 'openai',
  nonce: `0x${'1'.repeat(64)}`,
  address: `0x${'1'.repeat(40)}`,
  callId: 'call_0',
  voiceMode: 'managed',
  role: 'user',
  events: 'agent.created',
  matchKey: 'vendor.example',
  kind: 'api',
  windowKind: 'rolling',
  matchKind: 'host_exact',
  vendor: 'local',
  carrier: 'loopback',
  hook: 'status',
  jobId: 'doc_0',
  projectId: 'default',
  action: 'x',
  accountId: 'acct_0',
  type: 'message',
};

const NONE: readonly Planted[] = [];

/**
 * One value for each string place of a JSON Schema: `text` stands there, and in all other places what the server takes.
 * A place of any JSON gets the text plain, within a list, and as a member's name.
 */
export function plant(schema: Schema, text: string, name = '', whole = true): readonly Planted[] {
  const branches = [schema.anyOf, schema.oneOf].find(Array.isArray) as Schema[] | undefined;
  if (branches !== undefined) {
    return branches.flatMap((branch, i) =>
      plant(branch, text, name, whole).map(({ place, value }) => ({
        place: `${place}|${i}`,
        value,
      })),
    );
  }
  if (schema.type === 'string') return [{ place: '', value: text }];
  if (schema.type === 'array') {
    return plant(schema.items as Schema, text, name, whole).map(({ place, value }) => ({
      place: `[]${place}`,
      value: [value],
    }));
  }
  if (schema.type === 'object') return plantObject(schema, text, whole);
  if (Object.keys(schema).some((key) => !key.startsWith('$'))) return NONE;
  return [
    { place: '?', value: text },
    { place: '?[]', value: [{ deep: [text] }] },
    { place: '?{}', value: { [text]: 'x' } },
  ];
}

function plantObject(schema: Schema, text: string, whole: boolean): Planted[] {
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  const required = new Set((schema.required ?? []) as string[]);
  const filled = Object.entries(properties).filter(([name]) => whole || required.has(name));
  const others = Object.fromEntries(filled.map(([name, of]) => [name, example(of, name, whole)]));
  const planted = Object.entries(properties).flatMap(([name, of]) =>
    plant(of, text, name, whole).map(({ place, value }) => ({
      place: `.${name}${place}`,
      value: { ...others, [name]: value },
    })),
  );
  const rest = schema.additionalProperties;
  if (typeof rest !== 'object' || rest === null) return planted;
  const extra = plant(rest as Schema, text, 'extra', whole).map(({ place, value }) => ({
    place: `.*${place}`,
    value: { ...others, extra: value },
  }));
  const named = { ...others, [text]: example(rest as Schema, '', whole) };
  return [...planted, ...extra, { place: '.*=', value: named }];
}

/** A value that the schema takes; optional members are there where it is to be `whole`. */
export function example(schema: Schema, name = '', whole = true): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  const branches = [schema.anyOf, schema.oneOf].find(Array.isArray) as Schema[] | undefined;
  if (branches !== undefined) return example(branches[0] as Schema, name, whole);
  const [first] = (schema.enum ?? []) as unknown[];
  switch (schema.type) {
    case 'string': {
      const wanted = EXAMPLES[name];
      if (first !== undefined) {
        return (schema.enum as unknown[]).includes(wanted) ? wanted : first;
      }
      return wanted ?? (schema.pattern === undefined ? 'word' : '7');
    }
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return false;
    case 'array':
      return [example(schema.items as Schema, name, whole)];
    case 'object': {
      const required = new Set((schema.required ?? []) as string[]);
      const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
      const filled = properties.filter(([key]) => whole || required.has(key));
      return Object.fromEntries(filled.map(([key, of]) => [key, example(of, key, whole)]));
    }
    default:
      return undefined;
  }
}
