import { expect } from 'vitest';
import type { ModelEntry } from '../../src/models/catalogue/builtin/builtin-model.ts';
import { createFakeLedger } from './fake-ledger.ts';
import { gatewayWorld } from './gateway-world.ts';
import { streamUpstream } from './stream-upstream.ts';

export type StreamWorld = Awaited<ReturnType<typeof streamWorld>>;
type GatewayOptions = Omit<Parameters<typeof gatewayWorld>[0], 'ledger' | 'providers' | 'models'>;

const AGENT = 1;
const TEXT: ModelEntry['sources'][number]['rates'] = {
  text_input_token: '2.5',
  text_output_token: '10',
};

/** An upstream that answers as it is told, the gateway before it with a model of every kind, and funded agents. */
export async function streamWorld(
  options: GatewayOptions & {
    /** Of agents beside the first one, who has plenty. */
    readonly credits?: ReadonlyMap<number, bigint>;
  } = {},
) {
  const { credits = new Map(), ...more } = options;
  const ledger = createFakeLedger();
  for (const [agentId, amountRaw] of [[AGENT, 10n ** 12n] as const, ...credits]) {
    await ledger.credit({ agentId, amountRaw, reference: `start ${agentId}` });
  }
  const upstream = await streamUpstream();
  const model = (
    id: string,
    modality: ModelEntry['modality'],
    rates: ModelEntry['sources'][number]['rates'],
  ): ModelEntry => ({
    id,
    modality,
    sources: [{ rail: 'direct-account', provider: 'acme', upstreamModel: 'vendor', rates }],
  });
  const gateway = await gatewayWorld({
    ...more,
    ledger,
    providers: { acme: { baseUrl: upstream.baseUrl, dialect: 'openai' } },
    models: [
      model('acme/fast-1', 'text', TEXT),
      model('acme/ears-1', 'stt', { audio_second: '100' }),
      model('acme/voice-1', 'tts', { character: '15' }),
      model('acme/vectors-1', 'embedding', { text_input_token: '2' }),
    ],
  });
  return {
    ledger,
    upstream,
    gateway,
    /** What has left the first agent, by its balance and by its rows, once nothing is under way any more. */
    async charged(): Promise<bigint> {
      await expect.poll(() => ledger.openHolds()).toBe(0);
      const rows = ledger.charges.filter(({ agentId }) => agentId === AGENT);
      const charged = rows.reduce((sum, { costRaw }) => sum + costRaw, 0n);
      expect(charged).toBe(ledger.consumedRaw(AGENT));
      return charged;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}
