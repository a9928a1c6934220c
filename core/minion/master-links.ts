import type { MasterLink } from './master-link.ts'

/** Resolves with the first answer; a master that is away gets it later. */
export const tellAll = (
  links: readonly Pick<MasterLink, 'request'>[],
  load: Readonly<Record<string, unknown>>,
): Promise<unknown> => firstOf(links.map((link) => link.request(load)))

/** What comes first of several; if nothing does, the first reason. */
export const firstOf = <T>(asked: readonly Promise<T>[]): Promise<T> =>
  Promise.any(asked).catch((error: AggregateError) => Promise.reject(error.errors[0]))
