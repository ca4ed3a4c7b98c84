// Scrolls the page's list with a real wheel from its first row on, and reads from the browser's own trace how
// long the page's main thread worked for each frame: scripts, style, layout and paint together.

/** Turns of the wheel in all, and milliseconds between two. */
const TURNS = 600;
const TURN_EVERY_MS = 16;

export async function scroll(page, cdp) {
  const box = await page.locator('#list').boundingBox();
  const x = box.x + box.width / 2;
  const y = box.y + box.height / 2;
  await page.mouse.move(x, y);
  const length = await page.evaluate(() => document.querySelector('#list').scrollHeight);
  const deltaY = Math.ceil(length / TURNS);

  await page.evaluate(() => {
    const seen = { intervals: [], scrolled: 0, last: performance.now() };
    window.benchSeen = seen;
    document.querySelector('#list').addEventListener('scroll', () => {
      performance.mark('bench-scrolled');
      seen.scrolled += 1;
    }, { passive: true });
    const tick = (now) => {
      performance.mark('bench-frame');
      seen.intervals.push(now - seen.last);
      seen.last = now;
      seen.handle = requestAnimationFrame(tick);
    };
    requestAnimationFrame((now) => {
      seen.last = now;
      requestAnimationFrame(tick);
    });
  });
  const events = [];
  cdp.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await cdp.send('Tracing.start', {
    traceConfig: { includedCategories: ['toplevel', 'blink.user_timing', 'disabled-by-default-devtools.timeline', '__metadata'] },
    transferMode: 'ReportEvents',
  });
  let jumps = 0;
  for (; jumps < TURNS; jumps += 1) {
    const due = performance.now() + TURN_EVERY_MS;
    await cdp.send('Input.dispatchMouseEvent', { type: 'mouseWheel', x, y, deltaX: 0, deltaY });
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
  }
  const { intervals, last } = await page.evaluate(() => {
    cancelAnimationFrame(window.benchSeen.handle);
    const units = [...document.querySelectorAll('#list .row[data-unit]:not([hidden])')].map((row) => Number(row.dataset.unit));
    return { intervals: window.benchSeen.intervals, last: Math.max(...units) };
  });
  const complete = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve));
  await cdp.send('Tracing.end');
  await complete;
  return { work: frameWork(events), intervals, jumps, last };
}

/** Milliseconds of the main thread's tasks from each frame's drawing to the next one's, where the list scrolled. */
function frameWork(events) {
  const main = events.find((event) => event.name === 'bench-frame');
  const own = events.filter((event) => event.pid === main?.pid && event.tid === main?.tid);
  const times = (name) => own.filter((event) => event.name === name).map((event) => event.ts).sort((a, b) => a - b);
  const frames = times('bench-frame');
  const scrolled = times('bench-scrolled');
  const tasks = own.filter((event) => event.ph === 'X' && event.name === 'RunTask');
  const work = new Map();
  for (const { ts, dur } of tasks) {
    // A frame is marked inside the task that draws it, and so is its scrolling.
    const frame = placeBefore(frames, ts + dur);
    const { spent = 0, isScrolled = false } = work.get(frame) ?? {};
    const hasScrolled = placeBefore(scrolled, ts) !== placeBefore(scrolled, ts + dur);
    work.set(frame, { spent: spent + dur / 1000, isScrolled: isScrolled || hasScrolled });
  }
  return [...work.values()].filter((frame) => frame.isScrolled).map((frame) => frame.spent);
}

/** The place of the last of `times` that is not after `time`, -1 where all are. */
function placeBefore(times, time) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] <= time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}
