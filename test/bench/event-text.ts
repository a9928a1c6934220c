import { createHash } from 'node:crypto'

/** 320 characters that are known from the number: PostgreSQL makes the same with `repeat(md5(n::text), 10)`. */
export const eventText = (n: number): string => createHash('md5').update(String(n)).digest('hex').repeat(10)
