import { randomInt } from 'node:crypto'
import { SaltInvocationError } from 'salt-ts'
import { type CronJob, isSpecial, type Job, type Tab, TIME_FIELDS, type Times } from './tab.ts'

export type SetResult = 'new' | 'updated' | 'present'

/**
 * Add a job, or change the one with its identifier, or without an identifier the one with its command. What is not given of
 * a present job stays, and so does a time for `random`.
 */
export function setJob(tab: Tab, wanted: Job): SetResult {
  const present = [...tab.crons, ...tab.special].find((job) => isMeant(job, wanted.cmd, wanted.identifier))
  if (!present) {
    addJob(tab, wanted)
    return 'new'
  }
  const merged = { ...wanted, ...inherited(present, wanted) } as Job
  if (isSame(present, merged)) return 'present'
  removeJob(tab, present)
  const result = setJob(tab, merged)
  return result === 'new' ? 'updated' : result
}

/** Whether a job is the one that is meant: the one with the identifier, or the one with the command and none. */
export function isMeant(job: Job, cmd: string, identifier: string | null | undefined): boolean {
  return job.identifier ? job.identifier === identifier : job.cmd === cmd
}

export function removeJob(tab: Tab, job: Job): void {
  tab.crons = tab.crons.filter((other) => other !== job)
  tab.special = tab.special.filter((other) => other !== job)
}

/** Whether a job has the times that are given; `random` is any but `*`. */
export function hasTimes(job: CronJob, times: Partial<Times>): boolean {
  return TIME_FIELDS.every((field) => {
    const given = times[field]
    return (
      given === undefined || job[field] === given || (given.toLowerCase() === 'random' && job[field] !== '*')
    )
  })
}

function addJob(tab: Tab, job: Job): void {
  if (isSpecial(job)) tab.special.push(job)
  else tab.crons.push({ ...job, ...chosenTimes(job) })
}

function inherited(present: Job, wanted: Job): Partial<CronJob> {
  const notes = {
    identifier: wanted.identifier ?? present.identifier,
    comment: wanted.comment ?? present.comment,
  }
  if (isSpecial(present) || isSpecial(wanted)) return notes
  const kept = TIME_FIELDS.filter((field) => wanted[field] === 'random' && present[field] !== '*')
  return { ...notes, ...Object.fromEntries(kept.map((field) => [field, present[field]])) }
}

function isSame(one: Job, other: Job): boolean {
  if (isSpecial(one) !== isSpecial(other)) return false
  return Object.keys(one).every((key) => one[key as keyof Job] === other[key as keyof Job])
}

/** The first and the last value of the fields for which one may be chosen at random. */
const RANGES = { minute: [0, 59], hour: [0, 23], month: [1, 12], dayweek: [0, 6] } as const

/** Replace `random` by a value, and `5:20` by one between these. */
function chosenTimes(times: Times): Times {
  const month = chosen(times.month, RANGES.month)
  return {
    minute: chosen(times.minute, RANGES.minute),
    hour: chosen(times.hour, RANGES.hour),
    daymonth: chosen(times.daymonth, [1, daysOf(month)]),
    month,
    dayweek: chosen(times.dayweek, RANGES.dayweek),
  }
}

function chosen(value: string, [first, last]: readonly [number, number]): string {
  if (value === 'random') return between(first, last)
  const [, from, to] = /^(\d+):(\d+)$/.exec(value) ?? []
  if (from === undefined) return value
  return between(Math.min(Number(from), Number(to)), Math.max(Number(from), Number(to)))
}

const between = (first: number, last: number): string => String(randomInt(first, last + 1))

/** A number of days that the month surely has; other texts than numbers stand for any month. */
function daysOf(month: string): number {
  if (['4', '6', '9', '11'].includes(month)) return 30
  return ['1', '3', '5', '7', '8', '10', '12'].includes(month) ? 31 : 28
}

/** Refuse texts that would be more than one word of a line, and move what follows to other fields. @throws SaltInvocationError */
export function checkWords(texts: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (text === '' || /[\s\0]/.test(text)) {
      throw new SaltInvocationError(`${name} must be one word without spaces, not ${JSON.stringify(text)}`)
    }
  }
}

/** Refuse texts that would become several lines of a crontab. @throws SaltInvocationError */
export function checkLines(texts: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (text !== undefined && /[\n\r\0]/.test(text)) {
      throw new SaltInvocationError(
        `${name} must be a single line, since a crontab has one line for each entry`,
      )
    }
  }
}
