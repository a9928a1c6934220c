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
