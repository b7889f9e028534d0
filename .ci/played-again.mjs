// Prints the test files that the run on PostgreSQL plays again: from them a support module can be reached that opens the
// database of the run, or that says whether to play every row of a battery. A test with a database of its own is left out, and so
// are tests that another database would not tell apart.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const DIFFERS = /\binject\('test(Server|Template)'\)|\bTEST_EXHAUSTIVE\b/;
/**
 * Tests of sound, protocols and vendors through the whole server. They race for nothing, and each statement that the server
 * runs for them it runs for tests that are played again, too: compared by the text of all statements of both.
 */
const ONCE = new Set(
  [
    'e2e/deepgram-files',
    'e2e/deepgram-live',
    'e2e/deepgram-sdk',
    'e2e/deepgram-speak',
    'e2e/deepgram-speak-turns',
    'e2e/estimate',
    'e2e/gateway-transcription',
    'e2e/listen-relay',
    'e2e/livekit',
    'e2e/mcp',
    'e2e/phone-asterisk',
    'e2e/phone-call',
    'e2e/phone-dead-media',
    'e2e/phone-telnyx',
    'e2e/phone-twilio',
    'e2e/phone-webhook',
    'e2e/realtime-relay',
    'e2e/speech-local',
    'e2e/tracing-models',
    'e2e/tracing-voice',
    'e2e/transcription-formats',
    'integration/models/vendor-sound',
    'integration/voice/socket-conformance',
  ].map((name) => `test/${name}.test.ts`),
);
/** A database of the test's own, wherever the run has its database. */
const OWN_DATABASE = /support\/pgvector-server\.ts'/;
const IMPORT = /(?:from|import\()\s*'(\.[^']+)'/g;

const read = new Map();
function look(file) {
  const before = read.get(file);
  if (before !== undefined) return before;
  const text = readFileSync(file, 'utf8');
  const imported = [...text.matchAll(IMPORT)].map(([, path]) => resolve(dirname(file), path));
  const found = {
    differs: DIFFERS.test(text),
    next: imported.filter((path) => path.includes('/test/') && existsSync(path)),
  };
  read.set(file, found);
  return found;
}

function isPlayedAgain(file) {
  if (OWN_DATABASE.test(readFileSync(file, 'utf8'))) return false;
  const seen = new Set([file]);
  for (const at of seen) {
    const { differs, next } = look(at);
    if (differs) return true;
    for (const path of next) seen.add(path);
  }
  return false;
}

const files = ['integration', 'e2e', 'process', 'two-process']
  .map((folder) => `test/${folder}`)
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
  .filter((file) => file.endsWith('.test.ts') && isPlayedAgain(resolve(file)))
  .filter((file) => !ONCE.delete(file))
  .sort();
// The list names what is there, and what would be played again without it.
if (ONCE.size > 0) throw new Error(`not played again anyway: ${[...ONCE].join(', ')}`);
if (files.length === 0) throw new Error('no test is played again');
console.log(files.join('\n'));
