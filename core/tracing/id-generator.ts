/** `salt-ts/tracing`: what an SDK of OpenTelemetry needs to give spans of jobs their ids. */
import { randomBytes } from 'node:crypto'
import { nextSpan } from './next-span.ts'

/**
 * Id generator for an SDK of OpenTelemetry (`idGenerator` of its tracer provider). Spans of jobs get ids that every process can
 * compute from the job id; all other spans get random ids.
 */
export class JobIdGenerator {
  /** Return 32 hexadecimal digits. */
  generateTraceId(): string {
    return nextSpan()?.traceId ?? randomBytes(16).toString('hex')
  }

  /** Return 16 hexadecimal digits. */
  generateSpanId(): string {
    return nextSpan()?.spanId ?? randomBytes(8).toString('hex')
  }
}
