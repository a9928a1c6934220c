/** Flags of Salt's programs that these do not have yet: whoever types one is told so, not that it does not exist. */
const LATER = new Set(
  ['--batch-wait --batch-safe-limit --batch-safe-size --failhard'].flatMap((line) => line.split(' ')),
)

export const isLaterFlag = (flag: string): boolean => LATER.has(flag)
