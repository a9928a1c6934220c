/** A hosts file of one's own, where this process may make name spaces. */
import { spawnSync } from 'node:child_process'

export const canHaveOwnHosts = () => spawnSync('unshare', ['--mount', 'true']).status === 0

/** Start of a command line: the program that follows sees `file` in the place of /etc/hosts. */
export const withHosts = (file: string): string[] => [
  ...['unshare', '--mount', '--', 'sh', '-c'],
  'mount --bind "$0" /etc/hosts && exec "$@"',
  file,
]
