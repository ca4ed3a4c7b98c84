// Runs in the page: the core's index of a capture against what a page does without a core.

/** Times both, in turns, `count` times. Both have to find the same types. */
export async function indexRounds(count) {
  const { Frames, words } = await import('/assets/core.js');
  const capture = new Uint8Array(await (await fetch('/frames')).arrayBuffer());
  const tags = words().tags;
  // The page's own slices.
  const SLICE_BYTES = 256 * 1024;
  const HEADER_LEN = 17;

  // Where bodies are is known to the rival beforehand.
  const bodies = [];
  const view = new DataView(capture.buffer);
  for (let at = 0; at < capture.length;) {
    const len = view.getUint32(at, true);
    bodies.push([at + HEADER_LEN, at + HEADER_LEN + len]);
    at += HEADER_LEN + len;
  }

  const ours = () => {
    const began = performance.now();
    const frames = new Frames();
    frames.reserve(capture.length);
    for (let at = 0; at < capture.length; at += SLICE_BYTES) {
      frames.push(capture.subarray(at, at + SLICE_BYTES));
    }
    frames.finish();
    const found = {};
    for (const tag of frames.tags) {
      found[tag] = (found[tag] ?? 0) + 1;
    }
    const took = performance.now() - began;
    const types = Object.fromEntries(Object.entries(found).map(([tag, units]) => [tags[tag], units]));
    frames.close();
    return { took, types };
  };

  const rival = () => {
    const began = performance.now();
    const decoder = new TextDecoder();
    const types = {};
    for (const [start, end] of bodies) {
      const { type } = JSON.parse(decoder.decode(capture.subarray(start, end))).payload;
      types[type] = (types[type] ?? 0) + 1;
    }
    return { took: performance.now() - began, types };
  };

  const sorted = (types) => JSON.stringify(Object.entries(types).sort());
  const rounds = [];
  for (let round = 0; round < count; round += 1) {
    const [mine, theirs] = round % 2 === 0 ? [ours(), rival()] : [rival(), ours()].reverse();
    if (sorted(mine.types) !== sorted(theirs.types)) {
      throw new Error(`the types differ: ${sorted(mine.types)} and ${sorted(theirs.types)}`);
    }
    rounds.push({ ours: mine.took, rival: theirs.took });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { rounds, frames: bodies.length, bytes: capture.length };
}
