/**
 * One job that writes the journal's entries of records just admitted (assembly/journal/admitted-entries.ts). The owner writes `in`
 * fields. All offsets are absolute.
 *
 * Words:
 *    0  records  in   array of the records' handles
 *    1  from     in   where the first entry goes
 *    2  limit    in   no entry reaches beyond
 *    3  end      out  end of the last entry
 *    4  parent   both handle of the parent that the group named last, or 0
 *  5-8  print    both the four words of that parent's fingerprint
 */
export const ENTRIES_RECORDS_WORD = 0;
export const ENTRIES_FROM_WORD = 1;
export const ENTRIES_LIMIT_WORD = 2;
export const ENTRIES_END_WORD = 3;
export const ENTRIES_PARENT_WORD = 4;
export const ENTRIES_PRINT_WORD = 5;
/** Bytes of a parent entry, of a host's without its name, and of an admission without its text, at most. */
export const ENTRIES_FIXED_BYTES = 100;
