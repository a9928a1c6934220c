import { SaltError } from '../base/errors.ts'
import { allowedOpenFiles } from '../base/open-files.ts'

/** Node reads many files at once to start; a daemon has sockets, stores and children besides. */
const LEAST = 48
const LEAST_OF_DAEMON = 128
const DAEMONS: ReadonlySet<string> = new Set(['salt-api', 'salt-master', 'salt-minion', 'salt-syndic'])

/**
 * Refuse to begin where a program would soon fail to read a part of itself.
 * @throws SaltError CONFIG_INVALID
 */
export function checkOpenFiles(program: string, allowed = allowedOpenFiles()): void {
  const least = DAEMONS.has(program) ? LEAST_OF_DAEMON : LEAST
  if (allowed === undefined || allowed >= least) return
  throw new SaltError(
    'CONFIG_INVALID',
    `${program} may open ${allowed} files, and needs ${least} at least. Run "ulimit -n ${LEAST_OF_DAEMON * 8}" before it is ` +
      'started; for a service set LimitNOFILE in its unit.',
  )
}
