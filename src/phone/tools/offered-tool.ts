import type { Tool } from '../../voice/session/session-config.ts';
import type { AgentTool } from './agent-tools.ts';
import type { ServiceTools } from './service-tools.ts';

/** Returns the tools of an agent in the form for its model, without services that this server does not have. */
export const offeredTools = (
  services: Pick<ServiceTools, 'offered'>,
  tools: readonly AgentTool[],
): Tool[] =>
  tools.flatMap((tool) => {
    const offered = tool.type === 'service' ? services.offered(tool.name) : tool;
    if (offered === undefined) return [];
    const { description, parameters } = offered;
    const bounded = `${description}${boundsOf(tool)}`;
    return [{ type: 'function', name: tool.name, description: bounded, parameters }];
  });

function boundsOf(tool: AgentTool): string {
  if (tool.type !== 'service' || tool.name !== 'call_vendor') return '';
  const { hosts, maxCostRaw } = tool;
  return ` Hosts: ${hosts.join(', ')}. One call may cost ${maxCostRaw} units of 10^-6 USDC.`;
}
