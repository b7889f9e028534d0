/**
 * Runs PostgreSQL under /bin/sh, which holds one end of a pipe from this process. When this process
 * ends, however it ends, the pipe closes and PostgreSQL is told to stop. The shell also waits for it,
 * so that it never stays behind as a zombie. It is told again and again, because a shell starts its
 * background commands with SIGINT ignored and PostgreSQL listens only a moment later. It waits before it
 * looks, because a program that ended at once may be buried already and only `wait` still knows its code;
 * and again while it is there, because a signal cuts a wait short. The pipe is moved to handle 9: 3 may
 * carry the data folder.
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
