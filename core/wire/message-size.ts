/** Largest message of a minion or a program that a master takes, and the other way round: what Salt's decoders take (§1). Bytes. */
export const MAX_MESSAGE = 100 * 1024 * 1024

/** Largest content of an encrypted one: encryption and the id of the minion take less than what is left. Bytes. */
export const MAX_CONTENT = MAX_MESSAGE - 32 * 1024

/** Largest return, encoded: token, nonce and signature take less than what is left of the content. Bytes. */
export const MAX_RETURN = MAX_CONTENT - 32 * 1024

/** Why a message of so many bytes is not sent. */
export const tooLarge = (what: string, bytes: number, most: number): string =>
  `${what} is too large: it has ${inMegabytes(bytes)}, and a master takes ${inMegabytes(most)} at most.`

const inMegabytes = (bytes: number) => `${(bytes / (1024 * 1024)).toFixed(1)} MiB`
