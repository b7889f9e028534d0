import { type ParseArgsConfig, parseArgs } from 'node:util';

/**
 * Runs a command that a Ctrl-C ends, and exits with the exit code that it has set. The exit is explicit, since Node.js removes
 * its signal handlers before a process ends by itself: the same Ctrl-C, forwarded by npm, would then kill the process.
 */
export async function runUntilSignal(command: () => Promise<void>): Promise<never> {
  await runCommand(command);
  return process.exit();
}

/** Runs a command. The exit code is 0, or 1 with one sentence on standard error when the command rejects. */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

/** Reads the options of the command line. Throws the usage text when the command line has unknown options. */
export function readOptions<T extends NonNullable<ParseArgsConfig['options']>>(
  options: T,
  usage: string,
) {
  try {
    return parseArgs({ options }).values;
  } catch {
    throw new Error(usage);
  }
}

/**
 * Returns the one file name that a command takes. Otherwise prints the usage, sets the exit code to 2 and returns undefined.
 */
export function fileArgument(usage: string): string | undefined {
  const [file, ...more] = process.argv.slice(2);
  if (file !== undefined && !file.startsWith('-') && more.length === 0) return file;
  console.error(`usage: ${usage}`);
  process.exitCode = 2;
  return undefined;
}
