/** Try again until `check` gives something other than undefined or false; for states that no event tells about. */
export async function until<T>(
  what: string | (() => string),
  check: () => Promise<T | undefined | false> | T | undefined | false,
  ms = 20_000,
): Promise<T> {
  for (const end = Date.now() + ms; ; ) {
    const value = await check()
    if (value !== undefined && value !== false) return value
    if (Date.now() > end)
      throw new Error(`Waited ${ms} ms in vain for ${typeof what === 'string' ? what : what()}.`)
    await new Promise((done) => setTimeout(done, 20))
  }
}
