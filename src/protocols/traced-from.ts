import type { Span } from '../platform/tracing/span.ts';
import { SessionTrace } from '../voice/live/session-trace.ts';
import type { VoiceDeps } from '../voice/live/voice-deps.ts';

/** Returns the dependencies of a socket's session, with a trace when the handshake has a span. */
export function tracedFrom<D extends VoiceDeps>(
  deps: D,
  { span }: { readonly span?: Span | undefined },
): D {
  if (span === undefined) return deps;
  const { clock } = deps;
  const trace = new SessionTrace({ clock, begin: (name, start) => span.child(name, start) });
  return { ...deps, trace };
}
