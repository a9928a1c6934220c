import { type Mocked, vi } from 'vitest'
import type { Log } from '../../core/author/context.ts'

const nothing = (): void => {}

/** Says nothing. */
export const quietLog: Log = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing }

/** A log that a test asks what it was given. */
export const spyLog = (): Mocked<Log> => ({
  trace: vi.fn(),
  debug: vi.fn(),
  info: vi.fn(),
  warn: vi.fn(),
  error: vi.fn(),
})
