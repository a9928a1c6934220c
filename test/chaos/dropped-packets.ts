/** Partitions: packets are dropped without an answer, in a network namespace of its own. Needs root, `unshare`, `ip` and `nft`. */
import { execFileSync, spawnSync } from 'node:child_process'
import type { Fault } from './cluster-fleet.ts'

const INSIDE = '--inside'

/** Run this program again in a network namespace of its own, and exit with its exit code, unless it runs in one. */
export function enterNamespace(): void {
  if (process.argv.includes(INSIDE)) {
    execFileSync('ip', ['link', 'set', 'lo', 'up'])
    nft('add table inet chaos')
    nft('add chain inet chaos cut { type filter hook output priority 0 ; }')
    return
  }
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1), INSIDE]
  const { status, error } = spawnSync('unshare', ['--net', ...again], { stdio: 'inherit' })
  if (error) throw error
  process.exit(status ?? 1)
}

/** Cut something off: no packet that any of these expressions of nft matches arrives. */
export const cut = (name: string, ...matches: readonly string[]): Fault => ({
  name: `${name} is cut off`,
  async fail() {
    for (const match of matches) nft(`add rule inet chaos cut ${match} drop`)
  },
  async heal() {
    nft('flush chain inet chaos cut')
  },
})

/** Match what is sent to and from a port. */
export const ofPort = (port: number): string[] => [`tcp dport ${port}`, `tcp sport ${port}`]

/** Match what is sent to and from an address. */
export const ofAddress = (address: string): string[] => [`ip daddr ${address}`, `ip saddr ${address}`]

const nft = (command: string) => execFileSync('nft', command.split(' '))
