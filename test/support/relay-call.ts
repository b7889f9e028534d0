import { systemRandom } from '../../src/kernel/random.ts';
import type { Responder } from '../../src/phone/calls/call-deps.ts';
import { openResponder } from '../../src/phone/voice/open-responder.ts';
import { createDestinationGuard } from '../../src/platform/egress/destination-guard.ts';
import { MessageQueue } from '../../src/platform/messages/message-queue.ts';
import { phoneCall } from './phone-line.ts';
import { startRelayApp } from './relay-app.ts';

/** A live call whose responder is an application on loopback, which is given the call when it has connected. */
export async function relayCall(options: Parameters<typeof phoneCall>[0] = {}) {
  const app = await startRelayApp();
  let responder: Responder | undefined;
  const phone = await phoneCall({
    ...options,
    responderOf(clock) {
      const guard = createDestinationGuard({
        resolve: async () => ['127.0.0.1'],
        clock,
        allowLocalhost: true,
        domainAllowlist: [],
      });
      const voice = { voiceMode: 'webhook', webhookUrl: app.url };
      const parties = { agentId: 1, callId: 'CA1', from: '+14155550100', to: '+14155550199' };
      const call = { ...parties, direction: 'inbound', options: { voice } } as never;
      const line = new MessageQueue(clock);
      responder = openResponder(
        { clock, guard, line, random: systemRandom, client: {} as never },
        call,
        {},
      );
      if (responder === undefined) throw new Error('the call has a responder of its own');
      return responder;
    },
  });
  const session = await app.session();
  await session.heard();
  return {
    ...phone,
    app: session,
    /** The application sends messages, and they have arrived. */
    async tells(...messages: readonly object[]): Promise<void> {
      session.say(...messages);
      session.ws.ping();
      await new Promise((resolve) => session.ws.once('pong', resolve));
    },
    async [Symbol.asyncDispose]() {
      responder?.close();
      await app[Symbol.asyncDispose]();
    },
  };
}
