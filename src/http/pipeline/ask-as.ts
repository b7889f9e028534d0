import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { admitKnown } from '../auth/authenticate.ts';
import type { AgentCaller } from '../route/caller.ts';
import type { AskRoute, RouteCall } from '../route/route.ts';
import { type PipelineDeps, runPipeline } from './pipeline.ts';

/** A request that this server makes itself, for an agent that it knows without a key. */
export type OwnRequest = RouteCall & {
  readonly caller: AgentCaller;
  /** Calls back when the answer is read. */
  readonly onOver: (callback: () => void) => void;
  /** Id of the work, which its holds get. No other request may have it. */
  readonly workId: string;
};

export type AskAs = (request: OwnRequest) => ReturnType<AskRoute>;

/** The address in the limits of routes that count by address. No request of this kind comes over a network. */
const OWN_ADDRESS = '127.0.0.1';

/**
 * Builds calls of routes for an agent, which work like requests with the agent's key: status, permission, idempotency, rate
 * limits and shape are the route's. A refusal of the route is returned as an answer; nothing is thrown.
 */
export function createAskAs(
  deps: PipelineDeps & {
    readonly clock: Clock;
    readonly log: Log;
    readonly requestId: (sent: string | undefined) => string;
  },
  /** Count of open requests, to which these calls are added: a server that stops waits for these calls, too. */
  counted: { openRequests: number },
): AskAs {
  const { clock, log } = deps;
  const ask: AskAs = ({ body, caller, idempotencyKey, onOver, query, route, signal, workId }) => {
    const requestId = deps.requestId(undefined);
    const headers = new Map<string, string>();
    if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
    const asking: PipelineDeps = {
      ...deps,
      authenticate: (demand) => admitKnown(demand, caller, nowSeconds(clock)),
    };
    return runPipeline(asking, {
      request: {
        method: route.method,
        path: route.path,
        query: new URLSearchParams(query).toString(),
        headers,
        doubledHeader: undefined,
        framing: 'length',
      },
      route,
      rawParams: [],
      body: body === undefined ? undefined : { given: body, belongsTo: () => {} },
      requestId,
      clientAddress: () => OWN_ADDRESS,
      signal,
      onOver,
      workId,
      log: () => log.child({ requestId, asked: route.path }),
    });
  };
  return async (request) => {
    counted.openRequests += 1;
    try {
      return await ask(request);
    } finally {
      counted.openRequests -= 1;
    }
  };
}
