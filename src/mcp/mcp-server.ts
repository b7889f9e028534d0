import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  preloadSchemas,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { AskRoute, RouteReply } from '../http/route/route.ts';
import { API_VERSION } from '../http/server/api-version.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Memory } from '../memory/memory.ts';
import type { McpRequest, McpServer } from '../routes/mcp.ts';
import { createToolSlots } from './call-slots.ts';
import { callTool } from './call-tool.ts';
import { createCheckOrigin } from './check-origin.ts';
import { readMessages } from './read-messages.ts';
import { createResultBudget, type ResultBudget } from './result-budget.ts';
import { listedTool, type Tool } from './tool.ts';
import { thrownResult } from './tool-result.ts';
import { balance } from './tools/balance.ts';
import { callVendor } from './tools/call-vendor.ts';
import { estimate } from './tools/estimate.ts';
import { createMemoryTools } from './tools/memory.ts';
import { REPORT_TOOLS } from './tools/reports.ts';
import { speak } from './tools/speak.ts';
import { think } from './tools/think.ts';
import { transcribe } from './tools/transcribe.ts';
import { workKey } from './work-key.ts';

export type McpDeps = {
  readonly clock: Clock;
  readonly log: Log;
  /** URL by which clients reach this server, if it is known. */
  readonly publicUrl: string | undefined;
  /** Undefined when this server has no memory store, and so no tools for it. */
  readonly memory: Memory | undefined;
};

const INSTRUCTIONS =
  'Tools of a server that sells models, speech and paid HTTP calls to agents, from one prepaid balance. ' +
  'Every paid result has its cost. Send `_meta.idempotencyKey` with a paid call to be able to repeat it without paying twice.';

/** Returns all tools in the order in which they are listed. */
export const createTools = (memory: Memory | undefined): readonly Tool[] => [
  balance,
  estimate,
  callVendor,
  speak,
  transcribe,
  think,
  ...REPORT_TOOLS,
  ...(memory === undefined ? [] : createMemoryTools(memory)),
];

/** Serves MCP without sessions: each request gets a protocol server of its own, made by the SDK, with the same tools. */
export function createMcpServer({ clock, log, memory, publicUrl }: McpDeps): McpServer {
  // The SDK builds its schemas at their first use. Building them now saves the first request 70 ms.
  preloadSchemas();
  const tools = createTools(memory);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const listed = tools.map(listedTool);
  const checkOrigin = createCheckOrigin(publicUrl);
  const slots = createToolSlots();
  // Errors of the SDK may quote a message, so only their name is logged.
  const onerror = ({ name }: Error) => log.debug({ name }, 'an MCP message was refused');

  const protocolOf = (request: McpRequest, budget: ResultBudget): Server => {
    const server = new Server(
      { name: 'agent-voice-spend-server', version: API_VERSION },
      { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
    );
    server.onerror = onerror;
    server.setRequestHandler('tools/list', () => ({ tools: listed }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const tool = requireTool(byName, params.name);
      const { id, _meta: meta } = context.mcpReq;
      const args = params.arguments;
      const headerKey = request.headers.get('idempotency-key');
      const named = { metaKey: meta?.idempotencyKey, headerKey, id, tool: tool.name, args };
      return slots
        .take(request.agentId, async () => {
          const key = await workKey(named);
          return callTool(clock, { ...request, tool, args, key, budget });
        })
        .catch((refusal: unknown) => thrownResult(refusal, request.log));
    });
    return server;
  };

  return {
    async answer(received) {
      checkOrigin(received.headers.get('origin'));
      const { request, upstreamMs } = measured(received);
      const parsedBody = readMessages(request.body);
      if (parsedBody === undefined) return { status: 202, headers: {}, body: NOTHING };
      const asked = webRequest(request.headers);
      const budget = createResultBudget();
      if (await isLegacyRequest(asked, parsedBody)) {
        const server = protocolOf(request, budget);
        const response = await answerLegacy(server, asked, parsedBody, onerror);
        return replyOf(response, upstreamMs());
      }
      const handler = createMcpHandler(() => protocolOf(request, budget), {
        legacy: 'reject',
        // No resource or list ever changes, so that clients have nothing to subscribe to.
        maxSubscriptions: 0,
        onerror,
      });
      return replyOf(await handler.fetch(asked, { parsedBody }), upstreamMs());
    },
  };
}

/**
 * Measures the longest upstream wait of a request. Its calls run side by side, so the longest wait of a call is the wait of the
 * request.
 */
function measured(received: McpRequest) {
  let longestMs = 0;
  const ask: AskRoute = async (call) => {
    const told = await received.ask(call);
    longestMs = Math.max(longestMs, told.upstreamMs);
    return told;
  };
  return { request: { ...received, ask }, upstreamMs: () => longestMs };
}

const NOTHING = new Uint8Array(0);

function requireTool(byName: ReadonlyMap<string, Tool>, name: string): Tool {
  const tool = byName.get(name);
  if (tool !== undefined) return tool;
  const names = [...byName.keys()].join(', ');
  const message = `There is no tool "${name.slice(0, 64)}"; there are ${names}.`;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/**
 * Answers a request of the protocol revisions that begin with `initialize`. Every message is handled by itself and answered in
 * JSON.
 */
async function answerLegacy(
  server: Server,
  asked: Request,
  parsedBody: unknown,
  onerror: (error: Error) => void,
): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  transport.onerror = onerror;
  await server.connect(transport);
  try {
    return await transport.handleRequest(asked, { parsedBody });
  } finally {
    await server.close();
  }
}

/** Makes the web request that the SDK checks beside the messages. The body was read and bounded before. */
function webRequest(headers: ReadonlyMap<string, string>): Request {
  const own: [string, string][] = [
    ['content-type', 'application/json'],
    // Responses are JSON here, also for a client that sends no `accept`.
    ['accept', 'application/json, text/event-stream'],
  ];
  const protocol = [...headers].filter(([name]) => name.startsWith('mcp-'));
  return new Request('http://mcp.invalid/v1/mcp', {
    method: 'POST',
    headers: [...own, ...protocol],
  });
}

async function replyOf(response: Response, upstreamMs: number): Promise<RouteReply> {
  const contentType = response.headers.get('content-type');
  return {
    status: response.status,
    headers: contentType === null ? {} : { 'content-type': contentType },
    body: new Uint8Array(await response.arrayBuffer()),
    upstreamMs,
  };
}
