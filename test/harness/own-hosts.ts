/** Start of a command line: the program that follows sees `file` in the place of /etc/hosts. Needs the right to mount. */
export const withHosts = (file: string): string[] => [
  ...['unshare', '--mount', '--', 'sh', '-c'],
  'mount --bind "$0" /etc/hosts && exec "$@"',
  file,
]
