import { favourMedia } from '../src/app/favour-media.ts';
import type { Credentials } from '../src/http/auth/credentials.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { buildCatalogue } from '../src/models/catalogue/build-catalogue.ts';
import { createRealtimeSocket } from '../src/protocols/openai-realtime/realtime-socket.ts';
import { railsOf } from '../test/support/cascade-world.ts';
import { fakeCredentials, startEdge } from '../test/support/edge.ts';
import { createVoiceWorld } from '../test/support/voice-world.ts';

/**
 * A server whose realtime sessions are made of three models at an upstream, in a process and on a core of its own, on a
 * ledger in memory and with a detector of speech that answers at once.
 */
export type CascadeHostOrder = { readonly upstreamPort: number; readonly sessions: number };

/** Every key is its own agent, `svc_12` of agent 12: no agent may have so many sockets. */
const credentials: Credentials = {
  ...fakeCredentials,
  agentKey: (key) => {
    const agentId = Number(key.slice('svc_'.length));
    return {
      kind: 'agent',
      agentId,
      accountId: 'acct_0',
      keyId: agentId,
      keyRootId: agentId,
      permission: 'read_write',
      promptCaching: 'off',
      status: 'active',
      operatorExpiry: null,
    };
  },
};

process.on('disconnect', () => process.exit(1));
favourMedia();

async function open({ sessions, upstreamPort }: CascadeHostOrder): Promise<number> {
  const source = (rates: object) => ({
    rail: 'direct-account' as const,
    provider: 'peer',
    upstreamModel: 'm',
    rates,
  });
  const catalogue = buildCatalogue({
    providers: new Map([
      ['peer', { baseUrl: `http://127.0.0.1:${upstreamPort}/v1`, dialect: 'openai' }],
    ]),
    models: [
      {
        id: 'peer/chat',
        modality: 'text',
        sources: [source({ text_input_token: '1', text_output_token: '2' })],
      },
      { id: 'peer/say', modality: 'tts', sources: [source({ character: '1' })] },
      { id: 'peer/hear', modality: 'stt', sources: [source({ audio_second: '10' })] },
      {
        id: 'peer/talker',
        modality: 'realtime',
        sources: [],
        cascade: { stt: 'peer/hear', llm: 'peer/chat', tts: 'peer/say' },
      },
    ],
    secret: () => undefined,
  });
  const clock = systemClock;
  const world = await createVoiceWorld({ clock, creditRaw: 1n, change: { catalogue } });
  for (let agentId = 1; agentId <= sessions; agentId++) {
    const reference = `bench ${agentId}`;
    await world.ledger.credit({ agentId, amountRaw: 10_000_000n, reference });
  }
  const { cascades } = railsOf(catalogue, world);
  const sockets = [createRealtimeSocket(world.deps, undefined, cascades)];
  return (await startEdge({ sockets, credentials })).port;
}

process.send?.({ port: await open(JSON.parse(process.argv[2] ?? '{}') as CascadeHostOrder) });
