import { assert } from '../../../kernel/assert.ts';
import type { ModelEntry } from './builtin-model.ts';

/**
 * Shutdowns of built-in models by their vendors, one a line:
 *
 *     model  shutdown date  successor  notice date  source
 *
 * `-` as successor: the vendor names none, or none was found. When the day of the notice was not found, the notice date is
 * the day on which the shutdown was read for this list.
 */
const LINES = [
  'google/gemini-2.5-pro           2026-12-01  google/gemini-3.8-flash       2026-11-10  ai.google.dev/gemini-api/docs/deprecations(copied:aideprecations.com)',
  'google/gemini-2.5-flash         2026-12-01  google/gemini-3.5-flash-lite  2026-11-10  ai.google.dev/gemini-api/docs/deprecations(copied:aideprecations.com)',
  // OpenAI names no successor on the speech route, and refers to realtime sessions.
  'openai/tts-1                    2027-01-06  openai/gpt-realtime-2.1-mini  2026-10-01  developers.openai.com/api/docs/deprecations(copied:assemblyai.com)',
  'openai/tts-1-hd                 2027-01-06  openai/gpt-realtime-2.1-mini  2026-10-01  developers.openai.com/api/docs/deprecations(copied:assemblyai.com)',
  'openai/gpt-4o-mini-tts          2027-01-06  openai/gpt-realtime-2.1-mini  2026-10-01  developers.openai.com/api/docs/deprecations(copied:assemblyai.com)',
  'openai/gpt-4o                   2027-01-14  openai/gpt-6-luna             2026-10-14  developers.openai.com/api/docs/deprecations(copied:w3cschool.cn)',
  'openai/gpt-4o-mini              2027-01-14  openai/gpt-6-luna             2026-10-14  developers.openai.com/api/docs/deprecations(copied:w3cschool.cn)',
  'openai/gpt-realtime             2027-01-20  openai/gpt-realtime-2.1       2026-11-24  docs.retellai.com/deprecation-notice+dev.to/aidriftline',
  'openai/whisper-1                2027-02-26  openai/gpt-transcribe         2026-08-26  developers.openai.com/api/docs/guides/speech-to-text',
  'openai/gpt-4o-transcribe        2027-02-26  openai/gpt-transcribe         2026-08-26  developers.openai.com/api/docs/guides/speech-to-text',
  'openai/gpt-4o-mini-transcribe   2027-02-26  openai/gpt-transcribe         2026-08-26  developers.openai.com/api/docs/guides/speech-to-text',
  'openai/gpt-5.4-nano             2027-04-01  -                             2026-11-24  dev.to/aidriftline',
  'openai/gpt-5.3-codex            2027-04-01  -                             2026-11-24  dev.to/aidriftline',
  'google/gemini-3.1-flash-lite    2027-05-07  google/gemini-3.5-flash-lite  2026-11-24  ai.google.dev/gemini-api/docs/deprecations',
] as const;

type Row = Pick<ModelEntry, 'shutdownDate' | 'noticeDate' | 'successor'>;

const ROWS: ReadonlyMap<string, Row> = new Map(
  LINES.map((line) => {
    const [id, shutdownDate, successor, noticeDate, source, ...more] = line.split(/\s+/);
    assert(source !== undefined && more.length === 0, `five columns, and no more: ${line}`);
    return [
      id as string,
      { shutdownDate, noticeDate, successor: successor === '-' ? null : successor },
    ];
  }),
);

/**
 * Adds to each model the shutdown that its vendor announced, if any. Throws when a model of the list above is not among
 * `models`.
 */
export function withRetirement(models: readonly ModelEntry[]): readonly ModelEntry[] {
  const ids = new Set(models.map(({ id }) => id));
  for (const id of ROWS.keys()) assert(ids.has(id), `${id} is in the catalogue`);
  return models.map((model) => ({ ...model, ...ROWS.get(model.id) }));
}
