/** What one hand-out did, for those who put it back: a release, a peek, a deadline that passed before anybody began. */

/** What a hand-out did to one group's clock. */
export interface GroupHold {
  readonly group: number;
  readonly readyBefore: number;
  readonly readySet: number;
}

/** A record that was handed out, and the state of its host before. */
export interface HandOut {
  record: number;
  /** Sequence of this hand-out: the lease's fence and the host's turn. */
  sequence: number;
  /** How long it may be out, what `extend` added included. */
  givenMs: number;
  turnBefore: number;
  readyAtBefore: number;
  readyAtSet: number;
  /** What it did to the clocks of the host's groups. */
  holds: GroupHold[] | undefined;
}
