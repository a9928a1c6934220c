import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe } from 'vitest'

/** Debian's packages of programs that tests start, where those have other names. */
const PACKAGES: Readonly<Record<string, string>> = {
  etcd: 'etcd-server',
  influxd: 'influxdb',
  rsyslogd: 'rsyslog rsyslog-gnutls',
}

/** A program of this name is in one of the folders of PATH. */
export const isInstalled = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))

/** A suite that starts this program; where it is missing the suite is left out, and its title says how to get it. */
export function describeWith(program: string, title: string, suite: () => void): void {
  if (isInstalled(program)) describe(title, suite)
  else describe.skip(`${title}: install it with apt-get install ${PACKAGES[program] ?? program}`, suite)
}
