import type { TranscriptDialect } from './dialect.ts';
import { type ListenParameters, type ListenStream, listenDialect } from './listen-dialect.ts';
import { PLAIN_DIALECT } from './plain-dialect.ts';

/** A dialect, and what it is spoken about, as it can be written down. */
export type DialectChoice =
  | { readonly kind: 'plain' }
  | { readonly kind: 'listen'; readonly wishes: ListenParameters; readonly stream: ListenStream };

export const dialectOf = (choice: DialectChoice): TranscriptDialect =>
  choice.kind === 'plain' ? PLAIN_DIALECT : listenDialect(choice.wishes, choice.stream);
