/**
 * Runs PostgreSQL under /bin/sh, which holds one end of a pipe from this process. When this process
 * ends, however it ends, the pipe closes and the shell signals PostgreSQL to stop. The shell also waits
 * for PostgreSQL, so that no zombie stays behind. It repeats the signal, because a shell starts its
 * background commands with SIGINT ignored and PostgreSQL handles it only a moment later. It waits before
 * it checks, because a program that ended at once may be reaped already and only `wait` still knows its
 * exit code; and it waits again while the program runs, because a signal interrupts a wait. The pipe
 * moves to file descriptor 9, since 3 may hold the data folder.
 */
const SCRIPT = `
exec 9<&0
"$@" </dev/null 9<&- &
server=$!
trap 'kill -INT $server' INT TERM HUP
( read -r _ <&9; while kill -INT $server; do sleep 1; done ) 2>/dev/null &
watch=$!
wait $server; code=$?
while kill -0 $server 2>/dev/null; do wait $server; code=$?; done
kill $watch 2>/dev/null
exit $code
`;

export const watched = (command: readonly string[]): readonly string[] => [
  '/bin/sh',
  '-c',
  SCRIPT,
  'postgres-watchdog',
  ...command,
];
