/** Something that Deepgram refuses of the query of a request. */
export type QueryRule = {
  /** The page of the vendor that says so. */
  readonly source: string;
  /** A path with a query that this rule refuses. */
  readonly broken: string;
  readonly objection: (query: URLSearchParams, path: string) => string | undefined;
};

const DOCS = 'https://developers.deepgram.com';

/** Encodings of raw sound: their rate stands nowhere in the bytes. */
const RAW = ['linear16', 'linear32', 'alaw', 'mulaw'];
const ENCODINGS = [...RAW, 'flac', 'amr-nb', 'amr-wb', 'opus', 'ogg-opus', 'speex', 'g729'];

/** Parameters of the socket that tells turns. */
const FLUX = new Set([
  'model',
  'encoding',
  'sample_rate',
  'eager_eot_threshold',
  'eot_threshold',
  'eot_timeout_ms',
  'keyterm',
  'language_hint',
  'mip_opt_out',
  'tag',
  'profanity_filter',
  'numerals',
  'extra',
]);

const isOutside = (text: string | null, least: number, most: number): boolean =>
  text !== null && !(Number(text) >= least && Number(text) <= most);

/** What Deepgram's API refuses of queries: of its sockets, of files and of speech. */
export const DEEPGRAM_RULES: readonly QueryRule[] = [
  {
    source: `${DOCS}/reference/speech-to-text/listen-streaming (encoding)`,
    broken: '/v1/listen?encoding=pcm&sample_rate=8000',
    objection(query, path) {
      const encoding = query.get('encoding');
      return encoding !== null && path.endsWith('/listen') && !ENCODINGS.includes(encoding)
        ? `unknown encoding ${encoding}`
        : undefined;
    },
  },
  {
    source: `${DOCS}/docs/encoding (sample_rate is required for raw audio)`,
    broken: '/v1/listen?encoding=linear16',
    objection: (query, path) =>
      path.endsWith('/listen') &&
      RAW.includes(query.get('encoding') ?? '') &&
      query.get('sample_rate') === null
        ? 'sample_rate is required with encoding'
        : undefined,
  },
  {
    source: `${DOCS}/docs/utterance-end (with interim_results, 1000 ms at least)`,
    broken: '/v1/listen?utterance_end_ms=500&interim_results=true',
    objection(query) {
      const wait = query.get('utterance_end_ms');
      if (wait === null || wait === 'false') return undefined;
      if (query.get('interim_results') !== 'true') return 'utterance_end_ms needs interim_results';
      return Number(wait) >= 1_000 ? undefined : 'utterance_end_ms must be at least 1000';
    },
  },
  {
    source: `${DOCS}/docs/keyterm (Nova-3 and Flux take keyterm, all others keywords)`,
    broken: '/v1/listen?model=nova-3&keywords=Rome',
    objection(query) {
      const takesTerms = /^(nova-3|flux)/.test(query.get('model') ?? '');
      if (takesTerms && query.has('keywords')) return 'keywords is not supported by this model';
      return !takesTerms &&
        /^(nova|enhanced|base)/.test(query.get('model') ?? '') &&
        query.has('keyterm')
        ? 'keyterm is not supported by this model'
        : undefined;
    },
  },
  {
    source: `${DOCS}/docs/flux/configuration (parameters and their ranges)`,
    broken: '/v2/listen?model=flux-general-en&eot_threshold=0.2',
    objection(query, path) {
      if (!path.includes('/v2/listen')) return undefined;
      const odd = [...query.keys()].find((name) => !FLUX.has(name));
      if (odd !== undefined) return `unknown parameter ${odd}`;
      if (isOutside(query.get('eot_threshold'), 0.5, 1)) return 'eot_threshold: 0.5 to 1.0';
      if (isOutside(query.get('eager_eot_threshold'), 0.3, 0.9))
        return 'eager_eot_threshold: 0.3 to 0.9';
      return isOutside(query.get('eot_timeout_ms'), 500, 60_000)
        ? 'eot_timeout_ms: 500 to 60000'
        : undefined;
    },
  },
  {
    source: `${DOCS}/docs/tts-media-output-settings (mp3 has no sample_rate, linear16 no bit_rate)`,
    broken: '/v1/speak?model=aura-2-thalia-en&encoding=mp3&sample_rate=24000',
    objection(query, path) {
      if (!path.endsWith('/speak')) return undefined;
      const encoding = query.get('encoding') ?? 'mp3';
      if (encoding === 'mp3' && query.has('sample_rate')) return 'sample_rate does not go with mp3';
      return encoding === 'linear16' && query.has('bit_rate')
        ? 'bit_rate does not go with linear16'
        : undefined;
    },
  },
];

/** The sentence with which Deepgram refuses a request; undefined where it takes it. */
export function deepgramObjection(url: URL): string | undefined {
  for (const { objection } of DEEPGRAM_RULES) {
    const said = objection(url.searchParams, url.pathname);
    if (said !== undefined) return said;
  }
  return undefined;
}
