/** Largest message between a master and its minions and clients: the limit of Salt's decoders (wire protocol §1). */
export const MAX_MESSAGE_BYTES = 100 * 1024 * 1024

/** Largest content of an encrypted message; the reserve is for the encryption and the id of the minion. */
export const MAX_CONTENT_BYTES = MAX_MESSAGE_BYTES - 32 * 1024

/** Largest encoded return; the reserve is for token, nonce and signature. */
export const MAX_RETURN_BYTES = MAX_CONTENT_BYTES - 32 * 1024

/** Return the message for an error about a message that is too large to send. */
export const tooLargeText = (what: string, bytes: number, maxBytes: number): string =>
  `${what} is too large: it has ${inMegabytes(bytes)}, and a master accepts ${inMegabytes(maxBytes)} at most.`

const inMegabytes = (bytes: number) => `${(bytes / (1024 * 1024)).toFixed(1)} MiB`
