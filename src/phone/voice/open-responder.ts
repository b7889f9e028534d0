import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import type { Call } from '../calls/call.ts';
import type { Responder, ResponderOptions } from '../calls/call-deps.ts';
import { createRelayLlm, type RelayLlmDeps } from './relay/relay-llm.ts';
import { createWebhookLlm } from './webhook/webhook-llm.ts';

/**
 * Opens the responder that replaces the model in a call: by the scheme of its URL, the developer's webhook or a
 * ConversationRelay application. Undefined: a model answers.
 */
export function openResponder(
  deps: RelayLlmDeps & { readonly client: GuardedClient },
  call: Pick<Call, 'callId' | 'agentId' | 'from' | 'to' | 'direction' | 'options'>,
  { traceHeaders }: ResponderOptions,
): Responder | undefined {
  const { metadata, variables, voice } = call.options;
  const { voiceMode, webhookUrl: url } = voice;
  if (voiceMode !== 'webhook' || url === null) return undefined;
  if (!/^wss?:/i.test(url)) {
    const own = { ...call, metadata, variables, url };
    const webhook = createWebhookLlm({ ...deps, traceHeaders }, own);
    return { llm: webhook, entered: (digits) => webhook.entered(digits), close() {} };
  }
  const llm = createRelayLlm({ ...deps, traceHeaders }, { ...call, variables, url });
  return {
    llm,
    digit: (digit) => llm.dtmf(digit),
    interrupted: (heard, heardMs) => llm.interrupted(heard, heardMs),
    onUnprompted: (callback) => llm.onUnprompted(callback),
    onPreempted: (callback) => llm.onPreempted(callback),
    onManner: (callback) => llm.onManner(callback),
    callerSpoke: () => llm.callerSpoke(),
    answered: () => llm.answered(),
    close: () => llm.close(),
  };
}
