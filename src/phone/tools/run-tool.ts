import type { Clock } from '../../kernel/clock.ts';
import type { Reserve } from '../../ledger/rules/requests.ts';
import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import type { Call } from '../calls/call.ts';
import { requestSecret } from '../calls/opening/request-secret.ts';
import { callFunction } from './call-function.ts';
import { callService } from './call-service.ts';
import type { ToolCall } from './call-tools.ts';
import type { ServiceTools } from './service-tools.ts';
import type { ToolResult } from './tool-result.ts';

export type RunToolDeps = {
  readonly client: GuardedClient;
  readonly clock: Clock;
  /** Secret from which the agents' secrets are derived. Undefined when this server calls no functions. */
  readonly sealingSecret: string | undefined;
  readonly services: Pick<ServiceTools, 'call'>;
};

/** Carries out a tool call of a call, once. What it buys is paid out of the reserve. Never rejects. */
export type RunTool = (call: Call, toolCall: ToolCall, reserve: Reserve) => Promise<ToolResult>;

export const createRunTool =
  ({ client, clock, sealingSecret, services }: RunToolDeps): RunTool =>
  async (call, { args, signal, tool, toolCallId }, reserve) => {
    const { agentId, options, taskId } = call;
    if (tool.type === 'service') {
      return callService(services, call, tool, { args, reserve, signal, toolCallId });
    }
    const version = options.voice.secretVersion ?? 1;
    const secret =
      sealingSecret === undefined ? undefined : requestSecret(sealingSecret, { agentId, version });
    const asked = { toolCallId, args, parties: call, taskId, signal };
    return callFunction({ client, clock, secret }, tool, asked);
  };
