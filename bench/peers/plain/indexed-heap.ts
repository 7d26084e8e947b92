/** A binary heap of objects that know their place in it, so that any one can be moved or taken out. */
export interface HeapItem {
  /** Index in the heap that holds it; −1: in none. */
  at: number;
}

export interface IndexedHeap<T extends HeapItem> {
  readonly items: T[];
  push(item: T): void;
  pop(): T | undefined;
  /** To be called after an item's key has become better. */
  rise(item: T): void;
}

export function createIndexedHeap<T extends HeapItem>(
  isBefore: (a: T, b: T) => boolean,
): IndexedHeap<T> {
  const items: T[] = [];
  const put = (item: T, at: number): void => {
    items[at] = item;
    item.at = at;
  };
  const rise = (item: T): void => {
    let at = item.at;
    while (at > 0) {
      const parent = items[(at - 1) >> 1] as T;
      if (!isBefore(item, parent)) break;
      put(parent, at);
      at = (at - 1) >> 1;
    }
    put(item, at);
  };
  const sink = (item: T): void => {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      const right = items[child + 1];
      if (right !== undefined && isBefore(right, items[child] as T)) child++;
      const better = items[child] as T;
      if (!isBefore(better, item)) break;
      put(better, at);
      at = child;
    }
    put(item, at);
  };
  return {
    items,
    push(item) {
      item.at = items.length;
      items.push(item);
      rise(item);
    },
    pop() {
      const first = items[0];
      const last = items.pop();
      if (first === undefined || last === undefined) return undefined;
      if (first !== last) sink(last);
      first.at = -1;
      return first;
    },
    rise,
  };
}
