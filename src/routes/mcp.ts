import { z } from 'zod';
import { HTTP_LIMITS } from '../http/limits.ts';
import { requestErrors } from '../http/route/errors.ts';
import { type AskRoute, type RouteReply, route } from '../http/route/route.ts';
import type { Log } from '../kernel/log.ts';
import type { StopSignal } from '../kernel/stop-signal.ts';

/** An agent's request with a JSON-RPC message in its body. */
export type McpRequest = {
  readonly agentId: number;
  /** Headers of the request, with names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: unknown;
  readonly ask: AskRoute;
  /** Fires when the client disconnects. */
  readonly signal: StopSignal;
  readonly log: Log;
};

export interface McpServer {
  /** Answers a request. Throws when its origin is foreign or its batch is too large; an error of a tool is a normal result. */
  answer(request: McpRequest): Promise<RouteReply>;
}

/** Serves the Model Context Protocol without sessions: each request is independent of the others. */
export const mcp = route<{ mcp: McpServer }>()({
  method: 'POST',
  path: '/v1/mcp',
  credential: 'agent',
  summary: 'The Model Context Protocol: what agents can do here, as tools',
  envelope: 'jsonrpc',
  // Reading is enough here: each tool checks the permission that its own route needs.
  permission: 'read',
  admitsClosed: true,
  maxBodyBytes: HTTP_LIMITS.mcp.bodyBytes,
  json: HTTP_LIMITS.mcp.json,
  badJson: requestErrors.parseError,
  body: z.unknown().meta({ description: 'A JSON-RPC 2.0 message' }),

  handle({ ask, body, caller, headers, log, services, signal }) {
    const { agentId } = caller;
    return services.mcp.answer({ agentId, ask, body, headers, log, signal });
  },
});
