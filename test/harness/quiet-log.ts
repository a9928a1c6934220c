import type { Log } from '../../core/author/context.ts'

const nothing = (): void => {}

/** Says nothing. */
export const quietLog: Log = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing }
