import { existsSync } from 'node:fs'

interface Places {
  readonly conf_file: string
  readonly pki_dir: string
  readonly cachedir: string
  readonly sock_dir: string
  readonly log_file: string
}

/** Return a note with the default paths of a daemon, if it runs without a configuration file. */
export function defaultPathsNote(name: string, places: Places): string[] {
  const { conf_file, pki_dir, cachedir, sock_dir, log_file } = places
  if (existsSync(conf_file)) return []
  return [
    `${name} keeps its keys in ${pki_dir}, its data in ${cachedir}, its sockets in ${sock_dir} and its log in ${log_file}. ` +
      `Write ${conf_file} to choose others, or name another folder of configuration with -c.`,
  ]
}
