/** What may stand in a time such as `Monday 5:00pm`, `11/28/2026 17:00` or `2026-11-28T17:00:00+01:00`. */
const WORD =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?|am?|pm?|h|hours?|m|minutes?|s|seconds?|t|at|on|and|of|st|nd|rd|th|z|utc|gmt)$/i

/** Whether a text is a time for `when`, as far as its words and numbers show it. */
export function isTime(text: unknown): boolean {
  if (typeof text !== 'string' || !/\d|[a-z]{3}/i.test(text)) return false
  const words = text.match(/[a-z]+/gi) ?? []
  const rest = text.replace(/[a-z]+/gi, ' ')
  return words.every((word) => WORD.test(word)) && /^[\d\s:.,/+-]*$/.test(rest) && hasRealNumbers(text)
}

function hasRealNumbers(text: string): boolean {
  const [, hour, minute, second] = /(?:^|[^\d:+-])(\d+):(\d+)(?::(\d+))?/.exec(text) ?? []
  const [, month, day] = /(?:^|\D)\d{4}-(\d+)-(\d+)/.exec(text) ?? []
  const isUpTo = (digits: string | undefined, highest: number) =>
    digits === undefined || Number(digits) <= highest
  return isUpTo(hour, 23) && isUpTo(minute, 59) && isUpTo(second, 59) && isUpTo(month, 12) && isUpTo(day, 31)
}

/** Fields of a format of Python that are numbers: the lowest and highest value and the most digits of each. */
const FIELDS: Readonly<Record<string, readonly [lowest: number, highest: number, digits: number]>> = {
  Y: [1, 9999, 4],
  G: [1, 9999, 4],
  y: [0, 99, 2],
  m: [1, 12, 2],
  d: [1, 31, 2],
  H: [0, 23, 2],
  I: [1, 12, 2],
  M: [0, 59, 2],
  S: [0, 61, 2],
  j: [1, 366, 3],
  f: [0, 999_999, 6],
  U: [0, 53, 2],
  W: [0, 53, 2],
  V: [1, 53, 2],
  w: [0, 6, 1],
  u: [1, 7, 1],
}

const MONTHS = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'
/** The other fields. None matches texts of any length: many of them in a row would take forever. */
const WORDS: Readonly<Record<string, string>> = {
  a: '(?:mon|tue|wed|thu|fri|sat|sun)',
  A: '(?:mon|tues|wednes|thurs|fri|satur|sun)day',
  b: `(?:${MONTHS})`,
  B: '(?:january|february|march|april|may|june|july|august|september|october|november|december)',
  p: '[ap]m',
  z: '(?:[+-]\\d\\d:?[0-5]\\d(?::?[0-5]\\d)?|z)',
  Z: '[a-z]{3,4}',
  '%': '%',
}
/** Fields that stand for several. */
const JOINED: Readonly<Record<string, string>> = {
  c: '%a %b %d %H:%M:%S %Y',
  x: '%m/%d/%y',
  X: '%H:%M:%S',
}

/** Whether a text is a time in a format of Python's strptime, in which each field may be there once. */
export function isTimeIn(format: string, text: string): boolean {
  const whole = format.replace(/%(.)/gs, (part, name: string) => JOINED[name] ?? part)
  const fields = [...whole.matchAll(/%(.)/gs)].map(([, name = '']) => name).filter((name) => name !== '%')
  const isKnown = fields.every((name) => Object.hasOwn(FIELDS, name) || Object.hasOwn(WORDS, name))
  if (!isKnown || new Set(fields).size < fields.length) return false
  const found = new RegExp(`^${patternOf(whole)}$`, 'i').exec(text)
  if (!found) return false
  const names = fields.filter((name) => Object.hasOwn(FIELDS, name))
  const value = new Map(names.map((name, at) => [name, Number(found[at + 1])]))
  const inRange = ([name, number]: [string, number]) => {
    const [lowest, highest] = FIELDS[name] as readonly [number, number, number]
    return lowest <= number && number <= highest
  }
  return [...value].every(inRange) && isDay(value.get('Y') ?? 1900, value.get('m') ?? 1, value.get('d') ?? 1)
}

/** Return a format as a regular expression, with a group for each number. */
const patternOf = (format: string): string =>
  format.replace(/%(.)|[\\^$.*+?()[\]{}|%]/gs, (part, name?: string) => {
    if (name === undefined) return `\\${part}`
    const [, highest = 0, digits = 0] = FIELDS[name] ?? []
    return digits > 0 ? `(\\d{${highest === 9999 ? 4 : 1},${digits}})` : (WORDS[name] as string)
  })

const isDay = (year: number, month: number, day: number): boolean =>
  day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
