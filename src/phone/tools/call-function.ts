import type { Clock } from '../../kernel/clock.ts';
import { storableText } from '../../kernel/storable.ts';
import { BlockedDestination, Unreachable } from '../../platform/egress/blocked-destination.ts';
import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import { BodyTooLarge, SendFailed } from '../../platform/egress/send-failed.ts';
import { signedHeaders } from '../../webhooks/delivery/sign-delivery.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { CallParties } from '../voice/call-parties.ts';
import type { FunctionTool } from './agent-tools.ts';
import { failedTool, type ToolResult } from './tool-result.ts';

export type FunctionDeps = {
  /** HTTP client whose guard checks the URL before every request. */
  readonly client: GuardedClient;
  readonly clock: Clock;
  /** The secret that signs; undefined: this server has none. */
  readonly secret: string | undefined;
};

export type FunctionCall = {
  readonly toolCallId: string;
  readonly args: unknown;
  readonly parties: CallParties;
  readonly taskId: string;
  readonly signal: AbortSignal;
};

const { answerBytes, timeoutMs } = PHONE_LIMITS.tools;

/**
 * Calls a function of a developer once, with a request that is signed by Standard Webhooks: `webhook-id` names the call and the
 * tool call, so that the receiver detects a repeated request. Never rejects.
 */
export async function callFunction(
  { client, clock, secret }: FunctionDeps,
  tool: FunctionTool,
  { args, parties, signal, taskId, toolCallId }: FunctionCall,
): Promise<ToolResult> {
  if (secret === undefined) return failedTool('This server cannot sign the request.');
  const { callId, direction, from, to } = parties;
  const body = JSON.stringify({
    type: 'tool.call',
    toolCallId,
    name: tool.name,
    arguments: args,
    call: { callId, direction, from, to, taskId },
  });
  const totalMs = tool.timeoutMs ?? timeoutMs.usual;
  const deliveryId = `${callId}.${toolCallId}`;
  try {
    const answer = await client.send(await client.open(tool.url), {
      method: 'POST',
      headers: signedHeaders({ current: secret }, { deliveryId, body, nowMs: clock.now() }),
      body,
      signal,
      timeouts: { connectMs: totalMs, firstByteMs: totalMs, idleMs: totalMs, totalMs },
      maxHeaderBytes: PHONE_LIMITS.webhook.headerBytes,
      maxResponseBytes: answerBytes,
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    const text = storableText(Buffer.concat(chunks).toString('utf8'));
    if (answer.status >= 200 && answer.status < 300)
      return { outcome: 'done', output: text, costRaw: 0n };
    return failedTool(`The function answered with the status ${answer.status}.`);
  } catch (error) {
    return failedTool(describe(error, totalMs));
  }
}

/** Returns the sentence about a failure for the model. Any unexpected error reads as a failed connection. */
function describe(error: unknown, totalMs: number): string {
  if (error instanceof BlockedDestination || error instanceof Unreachable) {
    return 'The address of the function cannot be called.';
  }
  if (error instanceof BodyTooLarge)
    return `The function answered with more than ${answerBytes} bytes.`;
  if (error instanceof SendFailed && error.reason === 'timeout') {
    return `The function did not answer within ${totalMs / 1_000} s. It may have been carried out.`;
  }
  return 'The connection to the function failed. It may have been carried out.';
}
