import { readFile } from 'node:fs/promises';
import { replayTape } from '../../protocols/replay-tape.ts';
import { describeReplay } from '../../voice/recording/describe-replay.ts';
import { readTape } from '../../voice/recording/tape.ts';
import { fileArgument, runCommand } from './run-command.ts';

/** `npm run replay -- FILE`: replays a recorded session with this code, and reports the first difference. */
async function replay(file: string): Promise<void> {
  const tape = readTape(await readFile(file));
  const played = await replayTape(tape);
  const report = describeReplay(tape, played);
  if (played.difference !== undefined) throw new Error(report);
  console.log(report);
}

const file = fileArgument('npm run replay -- FILE.tape');
if (file !== undefined) await runCommand(() => replay(file));
