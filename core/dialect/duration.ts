const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Return the seconds of a duration such as `90`, `45m`, `2h`, `1.5d` or `1h30m`. Undefined for anything else. */
export function durationSeconds(text: string): number | undefined {
  const given = text.trim().toLowerCase()
  if (/^\d+(?:\.\d+)?$/.test(given)) return Number(given)
  if (!/^(?:\d+(?:\.\d+)?[smhd])+$/.test(given)) return undefined
  const parts = given.matchAll(/([\d.]+)([smhd])/g)
  return [...parts].reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (SECONDS[unit] ?? 0), 0)
}
