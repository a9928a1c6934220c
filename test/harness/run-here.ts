import { exitCodeFrom, type Program } from '../../core/cli/program/program.ts'
import { captured } from './terminal.ts'

export interface Finished {
  readonly stdout: string
  readonly stderr: string
  readonly code: number | null
  readonly ms: number
}

const programs = {
  salt: () => import('../../core/cli/commands/salt.ts'),
  'salt-call': () => import('../../core/cli/commands/salt-call.ts'),
  'salt-cp': () => import('../../core/cli/commands/salt-cp.ts'),
  'salt-key': () => import('../../core/cli/commands/salt-key.ts'),
  'salt-run': () => import('../../core/cli/commands/salt-run.ts'),
}

export type ProgramHere = keyof typeof programs

/** What programs listen to until their process ends. */
const events = ['SIGINT', 'SIGTERM', 'uncaughtException', 'exit'] as const

/**
 * Run one of our programs in this process, which costs a tenth of what a process costs. For what it prints and its exit code;
 * not for signals, standard input, other users, or functions of users, which `salt-run` runs in a process of its own.
 */
export async function runHere(program: ProgramHere, args: readonly string[]): Promise<Finished> {
  const { default: Command } = await programs[program]()
  const listening = events.map((event) => process.listeners(event as 'exit'))
  const started = performance.now()
  const { result, ...texts } = await captured(() => exitCodeFrom(Command as Program, [...args]))
  for (const [at, event] of events.entries())
    for (const listener of process.listeners(event as 'exit'))
      if (!listening[at]!.includes(listener)) process.off(event, listener)
  return { ...texts, code: result, ms: performance.now() - started }
}
