import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as EarlierWire } from '@modelcontextprotocol/sdk/shared/transport.js';

/** What the tests read of a result, whichever SDK brings it. */
export type ToolTold = {
  readonly isError?: boolean | undefined;
  readonly content: readonly {
    readonly type: string;
    readonly text?: string;
    readonly data?: string;
    readonly mimeType?: string;
  }[];
  readonly structuredContent: Record<string, unknown>;
};

export type McpSession = AsyncDisposable & {
  readonly version: string | undefined;
  names(): Promise<string[]>;
  list(): Promise<{ readonly name: string; readonly inputSchema: object }[]>;
  /** A call of a tool; `metaKey` names it, so that it can be made again. */
  call(name: string, args?: Record<string, unknown>, metaKey?: string): Promise<ToolTold>;
};

type Door = {
  readonly url: string;
  readonly key: string;
  readonly headers?: Record<string, string>;
};

const INFO = { name: 'test', version: '1' };
const initOf = ({ headers, key }: Door) => ({
  requestInit: { headers: { authorization: `Bearer ${key}`, ...headers } },
});

/** The SDK's client, of version 1 and of revision 2025-11-25, as most programs have it. */
export async function connectEarlier(door: Door): Promise<McpSession> {
  const client = new EarlierClient(INFO);
  const transport = new EarlierTransport(new URL(`${door.url}/v1/mcp`), initOf(door));
  await client.connect(transport as EarlierWire);
  return sessionOf(client, transport.protocolVersion);
}

/** The SDK's client of version 2, of revision 2026-07-28. */
export async function connectModern(door: Door): Promise<McpSession> {
  const client = new Client(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const transport = new StreamableHTTPClientTransport(new URL(`${door.url}/v1/mcp`), initOf(door));
  await client.connect(transport);
  return sessionOf(client, client.getNegotiatedProtocolVersion());
}

function sessionOf(client: Client | EarlierClient, version: string | undefined): McpSession {
  return {
    version,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, metaKey) =>
      (await client.callTool({
        name,
        arguments: args,
        ...(metaKey !== undefined && { _meta: { idempotencyKey: metaKey } }),
      })) as ToolTold,
    [Symbol.asyncDispose]: () => client.close(),
  };
}
