import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'undici';
import type { ModelEntry } from '../../src/models/catalogue/builtin/builtin-model.ts';
import type { DatabaseTarget } from '../../src/platform/postgres/sql.ts';
import { joined } from './compiled.ts';
import { nextMessage } from './next-message.ts';

/** What one call costs, hold and settlement alike: the model is billed by the request. */
export const PRICE_RAW = 100n;
export const MODEL = 'acme/fixed';

export const RACE_MODELS: readonly ModelEntry[] = [
  {
    id: MODEL,
    modality: 'text',
    sources: [
      {
        rail: 'direct-account',
        provider: 'acme',
        upstreamModel: 'fixed',
        marginBps: 0,
        rates: { request: '100', text_input_token: '0', text_output_token: '0' },
      },
    ],
  },
];

export type RacingAgent = { readonly agentId: number; readonly keyId: number };

export const keyOf = ({ agentId }: RacingAgent): string =>
  `svc_${agentId.toString(16).padStart(64, '0')}`;

/** A gateway in a process of its own, on a shared database. */
export async function gatewayProcess(options: {
  readonly target: DatabaseTarget;
  readonly nodeId: string;
  readonly agents: readonly RacingAgent[];
  readonly upstreamUrl: string;
}): Promise<{ readonly url: string; [Symbol.asyncDispose](): Promise<void> }> {
  const child: ChildProcess = fork(joined('test/support/gateway-child.ts'), [
    JSON.stringify(options),
  ]);
  const { url } = await nextMessage<{ url: string }>(child);
  return {
    url,
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

/** All calls at once, spread over the gateways and the agents. Answers how many came to which status. */
export async function raceCalls(
  urls: readonly string[],
  agents: readonly RacingAgent[],
  calls: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<ReadonlyMap<number, number>> {
  const dispatcher = new Agent({ connections: 256, pipelining: 1 });
  const statuses = new Map<number, number>();
  const call = async (i: number) => {
    const url = urls[i % urls.length];
    const agent = agents[Math.floor(i / urls.length) % agents.length];
    if (url === undefined || agent === undefined) throw new Error('no server or agent to call');
    const { statusCode, body } = await request(`${url}/chat/completions`, {
      method: 'POST',
      dispatcher,
      headers: {
        authorization: `Bearer ${keyOf(agent)}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Go.' }] }),
    });
    await body.dump();
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
  };
  try {
    await Promise.all(Array.from({ length: calls }, (_, i) => call(i)));
  } finally {
    await dispatcher.close();
  }
  return statuses;
}
