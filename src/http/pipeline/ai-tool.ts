import type { Exchange } from './exchange.ts';

/** Routes that only tools for AI clients ask. */
const TOOL_PATHS: ReadonlySet<string> = new Set(['/v1/mcp', '/v1/events/tool-call']);
const TOOL_AGENTS = /^svc-(?:cli|mcp)\//;

/** Returns true for a request of a tool for AI clients, by its route or its `User-Agent`. */
export const isOfAiTool = ({ request, route }: Pick<Exchange, 'request' | 'route'>): boolean =>
  TOOL_PATHS.has(route.path) || TOOL_AGENTS.test(request.headers.get('user-agent') ?? '');
