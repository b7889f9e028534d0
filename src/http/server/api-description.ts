import { stringify } from 'yaml';
import { type ZodType, z } from 'zod';
import { PROVIDER_KEY_HEADER } from '../../accounts/provider-keys/provider-key-header.ts';
import type { Credential } from '../route/caller.ts';
import type { Envelope } from '../route/render-error.ts';
import { type AnyRoute, isStreamed, type StreamedBody } from '../route/route.ts';
import type { AgentSocket, AnySocket } from '../route/socket-route.ts';
import { API_VERSION } from './api-version.ts';

export interface ApiDescription {
  /** Returns the description as OpenAPI 3.1 in YAML, made once at the first call. */
  yaml(): Uint8Array;
}

type Json = Readonly<Record<string, unknown>>;

/** Event that a webhook receives, with the JSON Schema of its body. */
export type WebhookDescription = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly schema: Json;
};

/** Creates the API description from the routes and sockets that this process serves, so that it cannot be out of date. */
export function createApiDescription(served: {
  readonly routes: readonly AnyRoute[];
  readonly sockets: readonly AnySocket[];
  /** Events that developers' endpoints receive. */
  readonly webhooks?: readonly WebhookDescription[];
  readonly publicUrl?: string | undefined;
}): ApiDescription {
  let bytes: Uint8Array | undefined;
  return {
    yaml() {
      bytes ??= Buffer.from(stringify(describeApi(served), { aliasDuplicateObjects: false }));
      return bytes;
    },
  };
}

/** Returns the description as a plain object. */
function describeApi({
  routes,
  sockets,
  webhooks = [],
  publicUrl,
}: Parameters<typeof createApiDescription>[0]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  const put = (path: string, method: string, operation: Json) => {
    const place = path.replace(/:(\w+)/g, '{$1}');
    paths[place] = { ...paths[place], [method]: operation };
  };
  for (const route of routes) put(route.path, route.method.toLowerCase(), describeRoute(route));
  for (const socket of sockets) {
    if (socket.credential === 'agent') put(socket.path, 'get', describeSocket(socket));
  }

  return {
    openapi: '3.1.0',
    info: { title: 'Agent voice and spend server', version: API_VERSION },
    ...(publicUrl === undefined ? {} : { servers: [{ url: publicUrl }] }),
    paths,
    ...(webhooks.length > 0 && {
      webhooks: Object.fromEntries(webhooks.map((one) => [one.name, describeWebhook(one)])),
    }),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      responses: {
        Refusal: { description: 'A refusal', content: json(REFUSAL) },
        GatewayRefusal: { description: 'A refusal', content: json(GATEWAY_REFUSAL) },
        DeepgramRefusal: { description: 'A refusal', content: json(DEEPGRAM_REFUSAL) },
        MessagesRefusal: { description: 'A refusal', content: json(MESSAGES_REFUSAL) },
        JsonRpcRefusal: { description: 'A refusal', content: json(JSON_RPC_REFUSAL) },
      },
    },
  };
}

/** Headers of both schemes by which webhooks are signed. */
const SIGNATURE_HEADERS: readonly Json[] = [
  [
    'X-Svc-Signature',
    'HMAC-SHA256 in hex of the timestamp, a dot and the body, under the secret as text',
  ],
  ['X-Svc-Timestamp', 'Unix seconds of this attempt'],
  ['X-Svc-Delivery-Id', '32 hex digits, the same in every automatic attempt'],
  ['webhook-id', 'The delivery id'],
  ['webhook-timestamp', 'Unix seconds of this attempt'],
  ['webhook-signature', 'Standard Webhooks: `v1,` and base64, once for each secret that signs'],
].map(([name, description]) => ({
  name,
  description,
  in: 'header',
  required: true,
  schema: { type: 'string' },
}));

function describeWebhook({ description, name, schema, title }: WebhookDescription): Json {
  const { $schema: _, ...body } = schema;
  return {
    post: {
      operationId: operationId('webhook', name),
      summary: title,
      description,
      parameters: SIGNATURE_HEADERS,
      requestBody: { required: true, content: json(body) },
      responses: {
        '2XX': { description: 'Received. Any other status is a failure, and retried.' },
      },
    },
  };
}

const providerKeyHeader = (need: 'optional' | 'required'): Json => ({
  name: PROVIDER_KEY_HEADER,
  in: 'header',
  required: need === 'required',
  description: 'The caller’s own key at the provider, used for this call alone',
  schema: { type: 'string' },
});

function describeRoute(route: AnyRoute): Json {
  const parameters = [
    ...parametersOf(route.params, 'path'),
    ...parametersOf(route.query, 'query'),
    ...(route.idempotent === true ? [IDEMPOTENCY_KEY] : []),
    ...(route.providerKey === undefined ? [] : [providerKeyHeader(route.providerKey)]),
  ];
  return {
    operationId: operationId(route.method, route.path),
    summary: route.summary,
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: { content: bodyOf(route.body) } }),
    responses: {
      [String(route.status ?? 200)]: {
        description: 'Done',
        ...(route.response === undefined ? {} : { content: json(shape(route.response, 'output')) }),
      },
      default: refusalOf(route.envelope),
    },
  };
}

const bodyOf = (body: ZodType | StreamedBody): Json =>
  isStreamed(body)
    ? { [body.streamOf]: { schema: body.shape ? shape(body.shape) : { type: 'string' } } }
    : json(shape(body));

function describeSocket(socket: AgentSocket): Json {
  const parameters = parametersOf(socket.query, 'query');
  const protocols = socket.protocols.join(', ');
  return {
    operationId: operationId('socket', socket.path),
    summary: socket.summary,
    description: `WebSocket, version 13. Sub-protocols: ${protocols === '' ? 'none' : protocols}.`,
    security: SECURITY[socket.credential],
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: {
      '101': { description: 'The socket is open' },
      default: refusalOf(socket.envelope),
    },
  };
}

const REFUSALS = {
  flat: 'Refusal',
  openai: 'GatewayRefusal',
  deepgram: 'DeepgramRefusal',
  anthropic: 'MessagesRefusal',
  jsonrpc: 'JsonRpcRefusal',
} as const;

const refusalOf = (envelope: Envelope = 'flat'): Json => ({
  $ref: `#/components/responses/${REFUSALS[envelope]}`,
});

const operationId = (method: string, path: string): string =>
  [method.toLowerCase(), ...path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')].join('_');

const json = (schema: Json): Json => ({ 'application/json': { schema } });

/** Returns the JSON schema of a Zod schema. The output of a transform, which has no schema, reads as any value. */
function shape(schema: ZodType, io: 'input' | 'output' = 'input'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

function parametersOf(schema: ZodType | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return [];
  const before = shape(schema) as { properties?: Record<string, Json>; required?: string[] };
  const after = shape(schema, 'output') as { properties?: Record<string, Json> };
  return Object.entries(before.properties ?? {}).map(([name, sent]) => ({
    name,
    in: place,
    required: place === 'path' || (before.required ?? []).includes(name),
    // The input schema of a coerced number admits any text; only the output schema states the type.
    schema: Object.keys(sent).length === 0 ? (after.properties?.[name] ?? {}) : sent,
  }));
}

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', maxLength: 255 },
};

const REFUSAL = shape(
  z.looseObject({
    error: z.string(),
    message: z.string().optional(),
    detail: z.string().optional(),
    details: z
      .array(z.object({ path: z.array(z.any()), message: z.string(), code: z.string() }))
      .optional(),
  }),
);

const GATEWAY_REFUSAL = shape(
  z.looseObject({
    error: z.looseObject({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string(),
    }),
  }),
);

const DEEPGRAM_REFUSAL = shape(
  z.looseObject({
    err_code: z.string(),
    err_msg: z.string(),
    request_id: z.string(),
    error: z.string(),
  }),
);

const MESSAGES_REFUSAL = shape(
  z.looseObject({
    type: z.literal('error'),
    error: z.looseObject({ type: z.string(), message: z.string(), code: z.string() }),
    request_id: z.string().nullable(),
  }),
);

const JSON_RPC_REFUSAL = shape(
  z.looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.null(),
    error: z.object({ code: z.number(), message: z.string(), data: z.any() }),
  }),
);

const apiKey = (place: 'header' | 'cookie', name: string) => ({ type: 'apiKey', in: place, name });

const SECURITY_SCHEMES = {
  developerKey: { type: 'http', scheme: 'bearer', description: 'A developer key, svc_live_…' },
  agentKey: { type: 'http', scheme: 'bearer', description: 'An agent key, svc_…' },
  agentKeyHeader: apiKey('header', 'X-Api-Key'),
  walletAddress: apiKey('header', 'X-Wallet-Address'),
  walletSignature: apiKey('header', 'X-Signature'),
  walletTimestamp: apiKey('header', 'X-Timestamp'),
  session: apiKey('cookie', 'svc_session'),
  adminKey: apiKey('header', 'X-Admin-Key'),
  metricsToken: { type: 'http', scheme: 'bearer', description: 'The token for metrics' },
} as const;

const securityOf = ({ credential, keyHeader }: AnyRoute): readonly Json[] => {
  const usual = SECURITY[credential as Credential];
  return keyHeader === undefined ? usual : [...usual, { agentKeyHeader: [] }];
};

const BY_SIGNATURE = { walletAddress: [], walletSignature: [], walletTimestamp: [] };
const MANAGEMENT = [{ developerKey: [] }, BY_SIGNATURE, { session: [] }];

const SECURITY: Readonly<Record<Credential, readonly Json[]>> = {
  none: [],
  management: MANAGEMENT,
  signature: [BY_SIGNATURE],
  agent: [{ agentKey: [] }],
  any: [{ agentKey: [] }, ...MANAGEMENT],
  admin: [{ adminKey: [] }],
  metrics: [{ metricsToken: [] }, { adminKey: [] }],
  carrier: [],
  platform: [],
};
