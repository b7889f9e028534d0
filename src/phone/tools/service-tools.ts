import type { Spender } from '../../ledger/rules/requests.ts';
import type { Tool } from '../../voice/session/session-config.ts';
import type { ToolResult } from './tool-result.ts';

/** Services that a tool offers without further settings. Paid services use the reserve of the call. */
export const PLAIN_SERVICES = ['recall', 'remember', 'balance', 'estimate'] as const;

/** The services of this server that the model of a call may call, by the names of their MCP tools. */
export type ToolServiceName = (typeof PLAIN_SERVICES)[number] | 'think' | 'call_vendor';

export type ServiceCall = {
  readonly name: ToolServiceName;
  readonly args: unknown;
  /** Id of the tool call's work, which is done and paid for at most once. Its holds have this id. */
  readonly workId: string;
  readonly spender: Spender;
  /** A call that takes longer is given up; what is paid by then is waited for. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** The services of this server as tools of a call. Each asks the route that a request with the agent's key would ask. */
export interface ServiceTools {
  /** The service as a model is offered it; undefined: this server does not have it. */
  offered(name: ToolServiceName): Pick<Tool, 'description' | 'parameters'> | undefined;
  /** Never rejects: what is refused is a failed result with the refusal's sentence. */
  call(call: ServiceCall): Promise<ToolResult>;
}
