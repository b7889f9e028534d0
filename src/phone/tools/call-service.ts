import { isObject } from '../../kernel/json.ts';
import type { Reserve } from '../../ledger/rules/requests.ts';
import type { Call } from '../calls/call.ts';
import { spenderOf } from '../calls/call-money.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { ServiceTool } from './agent-tools.ts';
import type { ToolCall } from './call-tools.ts';
import { limitReserve } from './limit-reserve.ts';
import type { ServiceTools } from './service-tools.ts';
import { failedTool, type ToolResult } from './tool-result.ts';
import { toolWorkId } from './tool-work-id.ts';

/** Calls a service of this server for the agent of a call, which pays what it buys out of the reserve of the call. */
export async function callService(
  services: Pick<ServiceTools, 'call'>,
  call: Call,
  tool: ServiceTool,
  {
    args,
    reserve: whole,
    signal,
    toolCallId,
  }: Pick<ToolCall, 'args' | 'signal' | 'toolCallId'> & { readonly reserve: Reserve },
): Promise<ToolResult> {
  const { accountId, callId } = call;
  const { name, timeoutMs = PHONE_LIMITS.tools.timeoutMs.most } = tool;
  if (tool.name === 'call_vendor' && !isAllowed(tool.hosts, args)) {
    return failedTool(`This host may not be called. Allowed: ${tool.hosts.join(', ')}.`);
  }
  const mostRaw = 'maxCostRaw' in tool ? tool.maxCostRaw : undefined;
  const reserve = mostRaw === undefined ? whole : limitReserve(whole, BigInt(mostRaw));
  const spender = { ...spenderOf(call), accountId, reserve };
  const workId = toolWorkId(callId, toolCallId);
  return services.call({ name, args, workId, spender, timeoutMs, signal });
}

/**
 * Returns true when the tool may fetch the URL in the arguments. A malformed URL passes: the service refuses it with its own
 * error.
 */
function isAllowed(hosts: readonly string[], args: unknown): boolean {
  const url = isObject(args) ? args.url : undefined;
  if (typeof url !== 'string' || !URL.canParse(url)) return true;
  return hosts.includes(new URL(url).hostname);
}
