// The functions of salt-ts, for the types of jobs. This has no effect at run time.
/// <reference path="../../../modules/_catalogue.ts" preserve="true" />
/** `salt-ts/http`: a client of salt-api for browsers and other programs, by `fetch` alone. */
export { type UntypedName, untyped } from '../../author/calls.ts'
export type { HttpEvent } from './event-stream.ts'
export {
  HttpClient,
  type HttpClientSettings,
  type HttpCredentials,
  type HttpEventOptions,
  type HttpRequest,
} from './http-client.ts'
export { HttpError, type HttpErrorCode } from './http-error.ts'
export type { HttpJob, HttpResult } from './http-job.ts'
