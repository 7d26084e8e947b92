/**
 * MinHeap: a binary heap of (key, tie, value), lowest key first, then lowest tie. The simulation
 * keeps its times in it; it belongs to the tests, so that no structure is tested against itself.
 */
export interface MinHeap {
  keys: number[];
  ties: number[];
  values: number[];
}

export function createHeap(): MinHeap {
  return { keys: [], ties: [], values: [] };
}

export function heapPush(heap: MinHeap, key: number, tie: number, value: number): void {
  let at = heap.keys.length;
  heap.keys.push(key);
  heap.ties.push(tie);
  heap.values.push(value);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBefore(heap, at, parent)) return;
    swap(heap, at, parent);
    at = parent;
  }
}

/** Removes the first entry; read index 0 of the arrays before. */
export function heapPop(heap: MinHeap): void {
  const last = heap.keys.length - 1;
  swap(heap, 0, last);
  heap.keys.pop();
  heap.ties.pop();
  heap.values.pop();
  for (let at = 0; ; ) {
    let least = at;
    for (const child of [2 * at + 1, 2 * at + 2]) {
      if (child < last && isBefore(heap, child, least)) least = child;
    }
    if (least === at) return;
    swap(heap, at, least);
    at = least;
  }
}

export function firstKey(heap: MinHeap): number | undefined {
  return heap.keys[0];
}

function isBefore(heap: MinHeap, a: number, b: number): boolean {
  const difference = at(heap.keys, a) - at(heap.keys, b);
  return difference < 0 || (difference === 0 && at(heap.ties, a) < at(heap.ties, b));
}

function swap(heap: MinHeap, a: number, b: number): void {
  for (const list of [heap.keys, heap.ties, heap.values]) {
    const held = at(list, a);
    list[a] = at(list, b);
    list[b] = held;
  }
}

function at(list: number[], index: number): number {
  return list[index] as number;
}
