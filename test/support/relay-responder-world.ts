import { systemRandom } from '../../src/kernel/random.ts';
import { createRelayLlm } from '../../src/phone/voice/relay/relay-llm.ts';
import { createDestinationGuard } from '../../src/platform/egress/destination-guard.ts';
import { MessageQueue } from '../../src/platform/messages/message-queue.ts';
import { ManualClock } from './manual-clock.ts';
import { startRelayApp } from './relay-app.ts';

/** A call whose responder is an application on loopback. Time stands still until the test moves it. */
export async function relayResponderWorld({ allowLocalhost = true, url = '' } = {}) {
  const app = await startRelayApp();
  const clock = new ManualClock();
  const guard = createDestinationGuard({
    resolve: async () => ['127.0.0.1'],
    clock,
    allowLocalhost,
    domainAllowlist: [],
  });
  const llm = createRelayLlm(
    { guard, clock, random: systemRandom, line: new MessageQueue(clock) },
    {
      agentId: 1,
      callId: 'CA1',
      from: '+14155550100',
      to: '+14155550199',
      direction: 'inbound',
      url: url === '' ? app.url : url,
      variables: { taskId: 'ca1' },
    },
  );
  let unprompted = 0;
  let wake = () => {};
  llm.onUnprompted(() => {
    unprompted++;
    wake();
  });
  return {
    app,
    clock,
    llm,
    /** Resolves when the application has asked for an answer so many times. */
    async askedForAnswer(times: number): Promise<void> {
      while (unprompted < times) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    unprompted: () => unprompted,
    async [Symbol.asyncDispose]() {
      llm.close();
      await app[Symbol.asyncDispose]();
    },
  };
}
