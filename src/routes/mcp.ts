import { z } from 'zod';
import { type AskRoute, type RouteReply, route } from '../http/route/route.ts';
import { errors } from '../kernel/errors.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Log } from '../kernel/log.ts';
import type { StopSignal } from '../kernel/stop-signal.ts';

/** A request with JSON-RPC in its body, from an agent. */
export type McpRequest = {
  readonly agentId: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: unknown;
  readonly ask: AskRoute;
  /** Fires when the client goes away. */
  readonly signal: StopSignal;
  readonly log: Log;
};

export interface McpServer {
  /** Throws the refusal of a foreign origin and of a batch beyond its bounds. What a tool refuses is a result. */
  answer(request: McpRequest): Promise<RouteReply>;
}

/** The Model Context Protocol, without sessions: every request stands for itself. */
export const mcp = route<{ mcp: McpServer }>()({
  method: 'POST',
  path: '/v1/mcp',
  credential: 'agent',
  summary: 'The Model Context Protocol: what agents can do here, as tools',
  envelope: 'jsonrpc',
  // Each tool demands of the caller what its route demands.
  permission: 'read',
  admitsClosed: true,
  maxBodyBytes: LIMITS.mcp.bodyBytes,
  json: LIMITS.mcp.json,
  badJson: errors.mcp.parseError,
  body: z.unknown().meta({ description: 'A JSON-RPC 2.0 message' }),

  handle({ ask, body, caller, headers, log, services, signal }) {
    const { agentId } = caller;
    return services.mcp.answer({ agentId, ask, body, headers, log, signal });
  },
});
