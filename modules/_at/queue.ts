/** The queue of `at`. */

import type { Context } from 'salt-ts'
import { MONTHS } from '#internal'

export interface AtJob {
  readonly job: number
  /** `2026-01-31` */
  readonly date: string
  /** `12:00:00` */
  readonly time: string
  readonly queue: string
  readonly user: string
  /** Given when the job was made; empty if it was not. */
  readonly tag: string
}

/** List the jobs, with their tags, which are in the first lines of their scripts. */
export async function readQueue(context: Context): Promise<AtJob[]> {
  const lines = (await runAt(['at', '-l'], context)).split('\n').filter(Boolean)
  const jobs = lines.flatMap((line) => parseLine(line) ?? [])
  return Promise.all(jobs.map(async (job) => ({ ...job, tag: await tagOf(job.job, context) })))
}

/** Run a program of `at`, and return its stdout. */
export const runAt = (words: readonly string[], { call }: Context): Promise<string> =>
  call('cmd.run_stdout', { cmd: [...words], python_shell: false })

/** Parse `3\tThu Nov 26 15:00:00 2026 a root`; some systems write `2026-11-26 15:00 a root`. */
export function parseLine(line: string): Omit<AtJob, 'tag'> | undefined {
  const [, job, rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
  if (job === undefined) return undefined
  const [, month = '', day = '', time, year, queue, user] =
    /^\w{3}\s+(\w{3})\s+(\d+)\s+([\d:]+)\s+(\d{4})\s+(\S+)\s+(\S+)/.exec(rest) ?? []
  if (time && year && queue && user) {
    const number = String(MONTHS.indexOf(month) + 1).padStart(2, '0')
    return { job: Number(job), date: `${year}-${number}-${day.padStart(2, '0')}`, time, queue, user }
  }
  const [date, clock, letter, owner] = rest.split(/\s+/)
  return date && clock && letter && owner
    ? { job: Number(job), date, time: clock, queue: letter, user: owner }
    : undefined
}

async function tagOf(job: number, context: Context): Promise<string> {
  const script = await runAt(['at', '-c', String(job)], context)
  return /^### SALT: (\w+)/m.exec(script)?.[1] ?? ''
}

export interface Condition {
  readonly runas: string | undefined
  readonly tag: string | undefined
  readonly hour: string | undefined
  readonly minute: string | undefined
  readonly day: string | undefined
  readonly month: string | undefined
  readonly year: string | undefined
}

/** Whether a job is what was asked for. Conditions that are not given do not count. */
export function isWanted(job: AtJob, wanted: Condition): boolean {
  const [year, month, day] = job.date.split('-')
  const [hour, minute] = job.time.split(':')
  const century = wanted.year?.length === 2 ? `20${wanted.year}` : wanted.year
  const pairs = [
    [wanted.runas, job.user],
    [wanted.tag, job.tag],
    [twoDigits(wanted.hour), hour],
    [twoDigits(wanted.minute), minute],
    [twoDigits(wanted.day), day],
    [twoDigits(wanted.month), month],
    [century, year],
  ]
  return pairs.every(([condition, found]) => condition === undefined || condition === found)
}

const twoDigits = (text: string | undefined): string | undefined => text?.padStart(2, '0')
