import { BRAND } from '../kernel/ids.ts';
import type { Catalogue, Dialect } from '../models/catalogue/catalogue.ts';
import { gatewayErrors } from '../models/errors.ts';

/** Options of the sockets for clients of OpenAI's live protocols. */
export const OPENAI_LIVE = {
  credential: 'agent',
  authenticateFrom: ['bearer', 'subprotocol', 'query'],
  protocols: ['realtime', BRAND.realtimeProtocol],
  keyProtocolPrefix: 'openai-insecure-api-key.',
  envelope: 'openai',
} as const;

/** Path of the socket for each dialect of speech-to-speech upstreams. */
const SOCKETS = {
  'openai-realtime': '/v1/realtime',
  'openai-live': '/v1/live/sessions',
} as const satisfies Partial<Record<Dialect, string>>;

/** Throws the refusal of a model whose upstreams use `dialect` when this socket serves another dialect. */
export function requireItsSocket(
  catalogue: Pick<Catalogue, 'find' | 'findKeyed' | 'provider'>,
  modelId: string,
  other: { readonly dialect: keyof typeof SOCKETS; readonly param: string },
): void {
  const sources = (catalogue.find(modelId) ?? catalogue.findKeyed(modelId))?.sources ?? [];
  const { dialect, param } = other;
  const isOther = sources.some(({ provider }) => catalogue.provider(provider)?.dialect === dialect);
  if (!isOther) return;
  throw gatewayErrors.invalidRequest(
    `"${modelId}" is served on the socket ${SOCKETS[dialect]}.`,
    param,
  );
}
